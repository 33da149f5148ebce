/**
 * Turns what the watches say into changes of the cache and the queue: the only writer of both besides
 * the scheduling loop. Decides which waiting pods a change may help.
 */
import type { InformerFactory } from '@orch/client';
import { resources } from '@orch/client';
import type { Logger } from '@orch/component';
import type { Node, Pod } from '@orch/types/core/v1';
import type { ClusterCache } from '../cache/cluster-cache.js';
import type { CycleContext } from '../framework/plugin.js';
import type { NodeInfo } from '../model/node-info.js';
import { type PodInfo, podInfo, podKey } from '../model/pod-info.js';
import { nodeFilterPlugins } from '../plugins/registry.js';
import type { SchedulingQueue } from '../queue/scheduling-queue.js';

export interface EventFeedParts {
  readonly informers: InformerFactory;
  readonly cache: ClusterCache;
  readonly queue: SchedulingQueue;
  readonly context: CycleContext;
  readonly schedulerName: string;
  readonly logger: Logger;
  /** Called after every change: there may be something to do. */
  readonly wake: () => void;
}

/** Pods that have ended take no room and need no node. */
const notEnded = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };

export class EventFeed {
  constructor(private readonly parts: EventFeedParts) {
    const { informers, wake } = parts;
    // An informer reports another object of the same name as a deletion and an addition.
    informers.informer(resources.nodes).addHandlers({
      onAdd: (node) => this.nodeSet(node),
      onUpdate: (node, old) => this.nodeSet(node, old),
      onDelete: (node) => parts.cache.removeNode(node.metadata?.name ?? ''),
    });
    informers.informer(resources.pods, notEnded).addHandlers({
      onAdd: (pod) => this.podAdded(pod),
      onUpdate: (pod, old) => {
        this.podUpdated(pod, old);
        wake();
      },
      onDelete: (pod) => {
        this.podDeleted(pod);
        wake();
      },
    });
  }

  private nodeSet(node: Node, old?: Node): void {
    const { cache, queue, wake } = this.parts;
    cache.setNode(node);
    if (old && !placementChanged(node, old)) return;
    const info = cache.node(node.metadata?.name ?? '');
    if (!info) return;
    queue.moveAll((pod) => this.mayFit(pod, info));
    wake();
  }

  private podAdded(pod: Pod): void {
    const { cache, queue, wake } = this.parts;
    const node = pod.spec?.nodeName;
    if (node) {
      const info = podInfo(pod);
      cache.setPod(info, node);
      queue.delete(info.key);
      this.moveForAssigned(info);
    } else if (this.isOurs(pod)) this.enqueue(podInfo(pod));
    wake();
  }

  private podUpdated(pod: Pod, old: Pod): void {
    const { cache, queue } = this.parts;
    const node = pod.spec?.nodeName;
    if (node) {
      const info = podInfo(pod);
      cache.setPod(info, node);
      queue.delete(info.key);
      if (!old.spec?.nodeName || labelsChanged(pod, old)) this.moveForAssigned(info);
      return;
    }
    const key = podKey(pod);
    if (!this.isOurs(pod)) queue.delete(key);
    // A pod that already counts on a node waits for its binding; changes of its status do not matter.
    else if (cache.nodeOf(key) === undefined) queue.update(podInfo(pod), podChanged(pod, old));
  }

  private podDeleted(pod: Pod): void {
    const { cache, queue } = this.parts;
    const key = podKey(pod);
    const tookRoom = cache.nodeOf(key) !== undefined;
    cache.removePod(key);
    queue.delete(key);
    if (tookRoom) queue.moveAll();
  }

  private enqueue(info: PodInfo): void {
    if (this.parts.queue.add(info)) return;
    this.parts.logger.error({ pod: info.key }, 'scheduling queue is full, pod was refused');
  }

  private isOurs(pod: Pod): boolean {
    const name = pod.spec?.schedulerName || this.parts.schedulerName;
    return name === this.parts.schedulerName && pod.metadata?.deletionTimestamp === undefined;
  }

  /** A pod placed elsewhere can only help pods that want to be near others, or evenly spread. */
  private moveForAssigned(assigned: PodInfo): void {
    const { queue, context } = this.parts;
    queue.moveAll(
      (pod) =>
        pod.spread.length > 0 ||
        pod.requiredAffinity.some((term) => term.selects(assigned, context.namespaceLabels)),
    );
  }

  /** Would the node take the pod as far as the node alone is concerned? */
  private mayFit(pod: PodInfo, node: NodeInfo): boolean {
    return nodeFilterPlugins.every((plugin) => !plugin.prepare(pod, this.parts.context)?.(node));
  }
}

function placementChanged(node: Node, old: Node): boolean {
  return (
    changed(node.metadata?.labels, old.metadata?.labels) ||
    changed(node.spec, old.spec) ||
    changed(node.status?.allocatable, old.status?.allocatable)
  );
}

function podChanged(pod: Pod, old: Pod): boolean {
  return changed(pod.spec, old.spec) || labelsChanged(pod, old);
}

function labelsChanged(pod: Pod, old: Pod): boolean {
  return changed(pod.metadata?.labels, old.metadata?.labels);
}

function changed(value: unknown, old: unknown): boolean {
  return JSON.stringify(value) !== JSON.stringify(old);
}
