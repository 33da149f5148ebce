/**
 * Applies watch events to the cache and the queue, which only the scheduling loop changes
 * otherwise. Decides which waiting pods a change may make schedulable.
 */
import type { InformerFactory } from '@orch/client';
import { resources } from '@orch/client';
import type { Logger } from '@orch/component';
import type { Node, Pod } from '@orch/types/core/v1';
import type { ClusterCache } from '../cache/cluster-cache.js';
import type { ClusterEvent } from '../framework/cluster-event.js';
import type { Profile } from '../framework/profile.js';
import { type PodInfo, podInfo, podKey } from '../model/pod-info.js';
import type { Nominations } from '../queue/nominations.js';
import type { SchedulingQueue } from '../queue/scheduling-queue.js';
import type { ObjectInformers } from './object-listers.js';
import type { RetryBatch } from './retry-batch.js';

export interface EventFeedDependencies {
  readonly informers: InformerFactory;
  readonly objectInformers: ObjectInformers;
  readonly retries: RetryBatch;
  readonly cache: ClusterCache;
  readonly queue: SchedulingQueue;
  readonly nominations: Nominations;
  /** By scheduler name. */
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly logger: Logger;
  /** Called after every change that may make a pod schedulable. */
  readonly wake: () => void;
}

/** Ended pods use no resources and need no node. */
export const notEnded = { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' };

export class EventFeed {
  constructor(private readonly dependencies: EventFeedDependencies) {
    const { informers, wake } = dependencies;
    // An informer reports a new object of the same name as a deletion and an addition.
    informers.informer(resources.nodes).addHandlers({
      onAdd: (node) => this.nodeSet(node),
      onUpdate: (node, old) => this.nodeSet(node, old),
      onDelete: (node) => dependencies.cache.removeNode(node.metadata?.name ?? ''),
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
    this.followStorage(dependencies.objectInformers);
  }

  private followStorage(informers: ObjectInformers): void {
    const retry = (event: ClusterEvent) => {
      const changed = () => this.dependencies.retries.changed(event);
      return {
        onAdd: changed,
        onUpdate: (object: object, old: object) => {
          if (object !== old) changed();
        },
      };
    };
    informers.claims?.addHandlers(retry('claim changed'));
    informers.volumes?.addHandlers(retry('volume changed'));
    informers.storageClasses?.addHandlers(retry('storage class changed'));
    informers.csiNodes?.addHandlers(retry('storage node changed'));
    informers.csiDrivers?.addHandlers(retry('storage capacity changed'));
    informers.capacities?.addHandlers(retry('storage capacity changed'));
    informers.services?.addHandlers(retry('service changed'));
  }

  private nodeSet(node: Node, old?: Node): void {
    const { cache, retries } = this.dependencies;
    cache.setNode(node);
    if (old && !placementChanged(node, old)) return;
    retries.nodeChanged(old ? 'node changed' : 'node added', node.metadata?.name ?? '');
  }

  private podAdded(pod: Pod): void {
    const { wake } = this.dependencies;
    if (pod.spec?.nodeName) this.podAssigned(podInfo(pod));
    else if (this.isOurs(pod)) this.enqueue(podInfo(pod));
    wake();
  }

  private podAssigned(info: PodInfo): void {
    const { cache, queue, nominations, retries } = this.dependencies;
    cache.setPod(info, info.pod.spec?.nodeName ?? '');
    queue.delete(info.key);
    nominations.delete(info.uid);
    retries.podAssigned(info);
  }

  private podUpdated(pod: Pod, old: Pod): void {
    const { cache, queue, nominations, retries } = this.dependencies;
    if (pod.spec?.nodeName) {
      const info = podInfo(pod);
      const isNew = !old.spec?.nodeName;
      if (isNew) {
        this.podAssigned(info);
        return;
      }
      cache.setPod(info, pod.spec.nodeName);
      if (labelsChanged(pod, old)) retries.podAssigned(info);
      return;
    }
    const info = podInfo(pod);
    if (!this.isOurs(pod)) {
      queue.delete(info.key);
      nominations.delete(info.uid);
      return;
    }
    nominations.update(info, { nominatedNode: old.status?.nominatedNodeName || undefined });
    // An assumed pod waits for its binding; changes of its status do not matter.
    if (cache.nodeOf(info.key) === undefined) queue.update(info, podChanged(pod, old));
  }

  private podDeleted(pod: Pod): void {
    const { cache, queue, nominations, retries } = this.dependencies;
    const key = podKey(pod);
    const node = cache.nodeOf(key);
    cache.removePod(key);
    queue.delete(key);
    const nominated = nominations.nodeOf(pod.metadata?.uid ?? '');
    nominations.delete(pod.metadata?.uid ?? '');
    const freed = node ?? nominated;
    if (freed !== undefined) retries.nodeChanged('pod removed', freed);
  }

  private enqueue(info: PodInfo): void {
    const { queue, nominations, logger } = this.dependencies;
    nominations.update(info);
    if (queue.add(info)) return;
    logger.error({ pod: info.key }, 'scheduling queue is full, pod rejected');
  }

  private isOurs(pod: Pod): boolean {
    const isEnding = pod.metadata?.deletionTimestamp !== undefined;
    return !isEnding && this.dependencies.profiles.has(pod.spec?.schedulerName ?? '');
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
