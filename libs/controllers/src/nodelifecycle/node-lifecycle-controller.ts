/**
 * Judges the health of nodes: marks those that have gone silent as unknown, keeps the taints that their
 * conditions call for, and with them has their pods moved, at a rate that depends on how their zone does.
 */

import { formatTime } from '@orch/apimachinery';
import {
  ApiError,
  type EventRecorder,
  type Informer,
  isNotFound,
  resources,
  TokenBucket,
  type WorkQueue,
} from '@orch/client';
import { dialect } from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import type { Node, Pod, Taint } from '@orch/types/core/v1';
import { every } from '../common/every.js';
import { isPodReady } from '../common/pods.js';
import {
  type Controller,
  type ControllerContext,
  queueFor,
  workOff,
} from '../manager/controller.js';
import { type GracePeriods, Heartbeats } from './heartbeats.js';
import { readinessOf, unknownConditions } from './node-conditions.js';
import {
  hasNoExecuteTaint,
  noExecuteKey,
  withNoExecuteTaint,
  withNoScheduleTaints,
} from './node-taints.js';
import { indexByNode, podsOnNode } from './pods-by-node.js';
import { clusterState, type EvictionRates, zoneOf } from './zones.js';

export interface NodeLifecycleSettings {
  readonly grace: GracePeriods;
  readonly rates: EvictionRates;
  readonly monitorPeriodMs: number;
}

interface ZoneLimit {
  readonly qps: number;
  readonly bucket: TokenBucket;
}

const taintPeriodMs = 100;
const taintWorkerCount = 8;

export class NodeLifecycleController implements Controller {
  private readonly nodes: Informer<Node>;
  private readonly leases: Informer<Lease>;
  private readonly pods: Informer<Pod>;
  private readonly queue: WorkQueue;
  private readonly recorder: EventRecorder;
  private readonly heartbeats: Heartbeats;
  private readonly limits = new Map<string, ZoneLimit>();
  /** Names of nodes that are to be emptied when their zone's rate allows. */
  private readonly waiting = new Set<string>();
  private wasCutOff = false;

  constructor(
    private readonly context: ControllerContext,
    private readonly settings: NodeLifecycleSettings,
  ) {
    this.nodes = context.informers.informer(resources.nodes);
    this.leases = context.informers.informer(resources.leases, {
      namespace: dialect().nodeLeaseNamespace,
    });
    this.pods = context.informers.informer(resources.pods);
    indexByNode(this.pods);
    this.queue = queueFor(context, 'node_lifecycle_controller');
    this.recorder = context.recorder('node-controller');
    this.heartbeats = new Heartbeats(settings.grace);
    this.nodes.addHandlers({
      onAdd: (node) => this.nodeAdded(node),
      onUpdate: (node) => this.queue.add(nameOf(node)),
      onDelete: (node) => this.nodeDeleted(node),
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.context;
    await Promise.all([
      workOff(this.queue, taintWorkerCount, signal, (name) => this.reconcile(name)),
      every(this.settings.monitorPeriodMs, clock, logger, signal, () => this.monitor()),
      every(taintPeriodMs, clock, logger, signal, () => this.taintWaiting()),
    ]);
  }

  private nodeAdded(node: Node): void {
    this.queue.add(nameOf(node));
    this.tellNode(node, 'RegisteredNode', `event: Registered Node ${nameOf(node)} in Controller`);
  }

  private nodeDeleted(node: Node): void {
    this.heartbeats.forget(nameOf(node));
    this.waiting.delete(nameOf(node));
    this.tellNode(node, 'RemovingNode', `event: Removing Node ${nameOf(node)} from Controller`);
  }

  private tellNode(node: Node, reason: string, text: string): void {
    const name = nameOf(node);
    const reference = { apiVersion: 'v1', kind: 'Node', name, uid: node.metadata?.uid };
    this.recorder.event(reference, 'Normal', reason, `Node ${name} ${text}`);
  }

  /** Taints that need no rate: everything but emptying a node that was fine before. */
  private async reconcile(name: string): Promise<undefined> {
    const node = this.nodes.lister.get(name);
    if (!node) return;
    const nowMs = this.context.clock.nowMs();
    const scheduling = withNoScheduleTaints(node, nowMs);
    const current = scheduling ? withTaints(node, scheduling) : node;
    const wanted = noExecuteKey(node);
    const isRated = wanted !== undefined && !hasNoExecuteTaint(node);
    if (isRated) this.waiting.add(name);
    else this.waiting.delete(name);
    const execution = isRated ? undefined : withNoExecuteTaint(current, wanted, nowMs);
    const taints = execution ?? scheduling;
    if (taints) await this.writeTaints(node, taints);
  }

  private async monitor(): Promise<void> {
    const nodes = this.nodes.lister.list();
    const nowMs = this.context.clock.monotonicMs();
    for (const node of nodes) {
      const lease = this.leases.lister.get(`${dialect().nodeLeaseNamespace}/${nameOf(node)}`);
      const isSilent = this.heartbeats.observe(node, lease, nowMs);
      if (isSilent) await this.markUnknown(node);
      if (readinessOf(node) === 'Unknown') await this.markPodsNotReady(node);
    }
    const state = clusterState(nodes, this.settings.rates);
    if (state.isCutOff) await this.sparePods(nodes);
    else if (this.wasCutOff) this.heartbeats.reset(nowMs);
    if (state.isCutOff !== this.wasCutOff) {
      const message = state.isCutOff
        ? 'no node is ready, evicting nothing'
        : 'nodes are ready again';
      this.context.logger.warn({ nodes: nodes.length }, message);
    }
    this.wasCutOff = state.isCutOff;
    for (const [zone, qps] of state.qps) {
      if (this.limits.get(zone)?.qps === qps) continue;
      this.limits.set(zone, { qps, bucket: new TokenBucket(qps, 1, nowMs) });
    }
  }

  private async markUnknown(node: Node): Promise<void> {
    const conditions = unknownConditions(node, this.context.clock.nowMs());
    if (!conditions) return;
    const wasReady = readinessOf(node) === 'True';
    try {
      await this.context.client
        .resource(resources.nodes)
        .replaceStatus({ ...node, status: { ...node.status, conditions } });
    } catch (error) {
      // Changed or gone meanwhile: judged again in the next round.
      if (!(error instanceof ApiError)) throw error;
      this.context.logger.info({ err: error, node: nameOf(node) }, 'node status was not written');
      return;
    }
    if (wasReady) this.tellNode(node, 'NodeNotReady', 'status is now: NodeNotReady');
  }

  /** Nobody on the node can say so any more. */
  private async markPodsNotReady(node: Node): Promise<void> {
    for (const pod of podsOnNode(this.pods, nameOf(node))) {
      if (!isPodReady(pod) || pod.metadata?.deletionTimestamp) continue;
      const lastTransitionTime = formatTime(this.context.clock.nowMs());
      const conditions = [{ type: 'Ready', status: 'False', lastTransitionTime }];
      const { namespace, name = '' } = pod.metadata ?? {};
      try {
        await this.context.client
          .resource(resources.pods, namespace)
          .patchStatus(name, { status: { conditions } }, { type: 'strategic' });
      } catch (error) {
        if (!isNotFound(error)) throw error;
        continue;
      }
      const reference = { ...pod, apiVersion: 'v1', kind: 'Pod' };
      this.recorder.event(reference, 'Warning', 'NodeNotReady', 'Node is not ready');
    }
  }

  /** While we are cut off, what we see says nothing about the nodes. */
  private async sparePods(nodes: readonly Node[]): Promise<void> {
    for (const node of nodes) {
      const taints = withNoExecuteTaint(node, undefined, this.context.clock.nowMs());
      if (taints) await this.writeTaints(node, taints);
    }
  }

  /** Taints nodes that are to be emptied, as fast as their zone allows. */
  private async taintWaiting(): Promise<void> {
    if (this.wasCutOff) return;
    const nowMs = this.context.clock.monotonicMs();
    for (const name of this.waiting) {
      const node = this.nodes.lister.get(name);
      const wanted = node && noExecuteKey(node);
      if (!node || wanted === undefined || hasNoExecuteTaint(node)) {
        this.waiting.delete(name);
        continue;
      }
      const limit = this.limits.get(zoneOf(node));
      if (!limit || limit.qps === 0 || !limit.bucket.tryTake(nowMs)) continue;
      const taints = withNoExecuteTaint(node, wanted, this.context.clock.nowMs());
      if (taints) await this.writeTaints(node, taints);
    }
  }

  private async writeTaints(node: Node, taints: readonly Taint[]): Promise<void> {
    const { resourceVersion } = node.metadata ?? {};
    const body = { metadata: { resourceVersion }, spec: { taints } };
    try {
      await this.context.client
        .resource(resources.nodes)
        .patch(nameOf(node), body, { type: 'merge' });
    } catch (error) {
      // A conflict: the newer node is on its way here, and is judged when it comes.
      if (!(error instanceof ApiError)) throw error;
      this.context.logger.debug({ err: error, node: nameOf(node) }, 'taints were not written');
    }
  }
}

function nameOf(node: Node): string {
  return node.metadata?.name ?? '';
}

function withTaints(node: Node, taints: Taint[]): Node {
  return { ...node, spec: { ...node.spec, taints } };
}
