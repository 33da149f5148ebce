/**
 * Decides which unschedulable pods a change of the cluster may help. Changes are collected and
 * examined together, because a mass deletion would otherwise examine every waiting pod for every
 * deleted one. The examinations take a bounded share of the time: after a long one, the next is
 * later and covers more changes.
 */
import type { Clock, Timer } from '@orch/component';
import type { ClusterEvent } from '../framework/cluster-event.js';
import { assignedPodCountMax, retryPauseFactor } from '../limits.js';
import type { ClusterObjects } from '../model/cluster-objects.js';
import type { PodInfo } from '../model/pod-info.js';
import type { QueuedPod, SchedulingQueue } from '../queue/scheduling-queue.js';
import { NodePrecheck, type NodePrecheckDependencies } from './node-precheck.js';
import { interestedPlugins } from './retry-plugins.js';

export interface RetryBatchDependencies extends NodePrecheckDependencies {
  readonly queue: SchedulingQueue;
  readonly objects: ClusterObjects;
  readonly clock: Clock;
  /** Called when pods may have become active. */
  readonly wake: () => void;
}

/** The changes that concern one node. */
type NodeEvent = 'node added' | 'node changed' | 'pod removed';

export class RetryBatch {
  private readonly interested: (event: ClusterEvent) => readonly string[];
  private readonly precheck: NodePrecheck;
  private readonly changes = new Set<ClusterEvent>();
  private readonly nodes = new Map<NodeEvent, Set<string>>();
  private assigned: PodInfo[] = [];
  private timer: Timer | undefined;
  private earliestMs = 0;
  private isStopped = false;

  constructor(private readonly dependencies: RetryBatchDependencies) {
    this.interested = interestedPlugins([...dependencies.profiles.values()]);
    this.precheck = new NodePrecheck(dependencies);
  }

  /** Notes a change that may help every pod that an interested plugin rejected. */
  changed(event: ClusterEvent): void {
    this.changes.add(event);
    this.schedule();
  }

  /** Notes a change of one node, which helps only pods that pass the filters of their own there. */
  nodeChanged(event: NodeEvent, node: string): void {
    const nodes = this.nodes.get(event);
    if (nodes) nodes.add(node);
    else this.nodes.set(event, new Set([node]));
    this.schedule();
  }

  /** Notes a newly assigned pod, which helps pods with affinity to it and spread constraints. */
  podAssigned(pod: PodInfo): void {
    if (this.assigned.length < assignedPodCountMax) this.assigned.push(pod);
    else this.changes.add('pod assigned');
    this.schedule();
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private schedule(): void {
    if (this.timer || this.isStopped) return;
    const { clock } = this.dependencies;
    this.timer = clock.setTimer(Math.max(0, this.earliestMs - clock.monotonicMs()), () => {
      this.timer = undefined;
      this.examine();
    });
  }

  private examine(): void {
    const { clock, queue, wake } = this.dependencies;
    const startMs = clock.monotonicMs();
    for (const event of this.changes) queue.moveRejected(this.interested(event));
    for (const [event, nodes] of this.nodes) {
      if (this.changes.has(event)) continue;
      queue.moveRejected(this.interested(event), (entry) => this.nodesConcern(event, nodes, entry));
    }
    if (this.assigned.length > 0 && !this.changes.has('pod assigned')) {
      const { assigned } = this;
      queue.moveRejected(this.interested('pod assigned'), (entry) =>
        this.assignedConcern(assigned, entry),
      );
    }
    this.changes.clear();
    this.nodes.clear();
    this.assigned = [];
    const endMs = clock.monotonicMs();
    this.earliestMs = endMs + (endMs - startMs) * retryPauseFactor;
    wake();
  }

  private nodesConcern(event: NodeEvent, nodes: ReadonlySet<string>, entry: QueuedPod): boolean {
    const { info, rejectedBy } = entry;
    // A removed pod may also have been in the way of affinity or spreading on other nodes.
    if (event === 'pod removed' && !this.precheck.areLocal(rejectedBy)) return true;
    for (const node of nodes) if (this.precheck.mayFit(info, node)) return true;
    return false;
  }

  private assignedConcern(assigned: readonly PodInfo[], entry: QueuedPod): boolean {
    const { info, rejectedBy } = entry;
    if (!rejectedBy.has('InterPodAffinity') || rejectedBy.size > 1) return true;
    const { namespaceLabels } = this.dependencies.objects;
    return info.requiredAffinity.some((term) =>
      assigned.some((pod) => term.selects(pod, namespaceLabels)),
    );
  }
}
