/**
 * Monitors the health of nodes: marks silent nodes as unknown, taints nodes by their conditions and
 * evicts the pods of lost nodes, at a rate that depends on the health of the zone.
 */
import { ApiError, type Informer, objectKey, resources } from '@orch/client';
import { dialect } from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import type { Node, Pod } from '@orch/types/core/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import type { NodeOptions } from '../common/node-options.js';
import { isPodReady } from '../common/pods.js';
import { indexByNode } from '../common/pods-by-node.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import { EvictionQueue } from './eviction-queue.js';
import { Heartbeats, type NodeHealth } from './heartbeats.js';
import { type Readiness, readinessOf, unknownConditions } from './node-conditions.js';
import { type NodeEvictions, PodEvictions, TaintEvictions } from './node-evictions.js';
import { missingLabels } from './node-labels.js';
import { NodeLifecycleMetrics } from './node-lifecycle-metrics.js';
import {
  hasNoExecuteTaint,
  noExecuteKey,
  withNoExecuteTaint,
  withNoScheduleTaints,
} from './node-taints.js';
import { NodeWriter } from './node-writer.js';
import { PodReadiness } from './pod-readiness.js';
import { type ClusterState, clusterState, type EvictionRates, zoneOf } from './zones.js';

interface ObservedNode {
  readonly node: Node;
  readonly health: NodeHealth;
  /** As the node was read, and as it is after this period. */
  readonly before: Readiness;
  readonly after: Readiness;
}

/** The only key of the queue of evictions: all that are pending. */
const evictionsKey = 'pending';

export const nodeLifecycleController: ControllerFactory = (context, { nodes: options }) => {
  const reconciler = new NodeLifecycleReconciler(context, options);
  const built = controller('node_lifecycle_controller', context)
    .workers(limits.nodeWorkerCount)
    .for(resources.nodes, { delete: never })
    .every(options.nodeMonitorPeriodMs, async () => {
      await reconciler.monitor();
      if (reconciler.hasPendingEvictions) evictions.add(evictionsKey);
    });
  const evictions = built.extraQueue('node_lifecycle_controller_evictions', 1, async () => {
    await reconciler.evictDue();
    if (!reconciler.hasPendingEvictions) return done;
    return { requeueAfterMs: limits.nodeEvictionPeriodMs };
  });
  const pods = built.extraQueue(
    'node_lifecycle_controller_pods',
    limits.nodePodWorkerCount,
    (key) => reconciler.reconcilePod(key),
  );
  context.informers.informer(resources.pods).addHandlers({
    onAdd: (pod) => {
      if (isOnNode(pod)) pods.add(objectKey(pod));
    },
    onUpdate: (pod, old) => {
      if (isOnNode(pod) && pod.spec?.nodeName !== old.spec?.nodeName) pods.add(objectKey(pod));
    },
  });
  return built.reconcile((name) => reconciler.reconcile(name));
};

class NodeLifecycleReconciler {
  private readonly nodes: Informer<Node>;
  private readonly leases: Informer<Lease>;
  private readonly pods: Informer<Pod>;
  private readonly writer: NodeWriter;
  private readonly heartbeats: Heartbeats;
  private readonly rates: EvictionRates;
  private readonly queue = new EvictionQueue();
  private readonly evictions: NodeEvictions;
  private readonly podReadiness: PodReadiness;
  private readonly metrics: NodeLifecycleMetrics;
  private wasPartitioned = false;

  constructor(
    private readonly context: ControllerContext,
    options: NodeOptions,
  ) {
    const { informers } = context;
    const namespace = dialect().nodeLeaseNamespace;
    this.nodes = informers.informer(resources.nodes);
    this.leases = informers.informer(resources.leases, { namespace });
    this.pods = informers.informer(resources.pods);
    this.writer = new NodeWriter(context);
    this.heartbeats = new Heartbeats({
      monitorMs: options.nodeMonitorGraceMs,
      startupMs: options.nodeStartupGraceMs,
    });
    this.rates = {
      normalQps: options.nodeEvictionRate,
      secondaryQps: options.secondaryNodeEvictionRate,
      largeZoneSize: options.largeClusterSizeThreshold,
      unhealthyShare: options.unhealthyZoneThreshold,
    };
    this.evictions = options.enableTaintManager
      ? new TaintEvictions(context, this.writer)
      : new PodEvictions(context, this.writer, this.pods, options.podEvictionTimeoutMs);
    this.podReadiness = new PodReadiness(context, this.pods);
    this.metrics = new NodeLifecycleMetrics(context.metrics);
    indexByNode(this.pods);
    this.nodes.addHandlers({
      onAdd: (node) =>
        this.writer.event(
          node,
          'RegisteredNode',
          `event: Registered Node ${nameOf(node)} in Controller`,
        ),
      onDelete: (node) => this.nodeDeleted(node),
    });
  }

  /**
   * Writes the labels and the taints that are not rate-limited: all except the first NoExecute
   * taint of a node.
   */
  async reconcile(name: string): Promise<ReconcileResult> {
    const node = this.nodes.lister.get(name);
    if (!node) return done;
    const nowMs = this.context.clock.nowMs();
    const labels = missingLabels(node);
    const scheduling = withNoScheduleTaints(node, nowMs);
    const current = scheduling ? { ...node, spec: { ...node.spec, taints: scheduling } } : node;
    const execution = hasNoExecuteTaint(node)
      ? withNoExecuteTaint(current, noExecuteKey(node), nowMs)
      : undefined;
    const taints = execution ?? scheduling;
    if (labels || taints) await this.writer.patch(node, { labels, taints });
    return done;
  }

  /** Marks a ready pod that appears on an unreachable node. */
  async reconcilePod(key: string): Promise<ReconcileResult> {
    const pod = this.pods.lister.get(key);
    const node = pod && this.nodes.lister.get(pod.spec?.nodeName ?? '');
    if (node && readinessOf(node) === 'Unknown') await this.podReadiness.markNotReady(pod);
    return done;
  }

  /** Marks silent nodes, then decides with the resulting state of the zones which ones to evict. */
  async monitor(): Promise<void> {
    const observed: ObservedNode[] = [];
    for (const node of this.nodes.lister.list()) observed.push(await this.observe(node));
    await this.podReadiness.markAll();
    const state = clusterState(
      observed.map(({ node, after }) => [node, after] as const),
      this.rates,
    );
    const nowMs = this.context.clock.monotonicMs();
    this.metrics.observe(state.zones);
    this.queue.setRates(
      [...state.zones].map(([zone, { qps }]) => [zone, qps] as const),
      nowMs,
    );
    this.partitionObserved(state, observed.length, nowMs);
    for (const one of observed) await this.decide(one, state.isPartitioned);
  }

  get hasPendingEvictions(): boolean {
    return !this.queue.isEmpty;
  }

  /** Evicts pending nodes, as fast as the rate of their zone allows. */
  async evictDue(): Promise<void> {
    for (const name of this.queue.due(this.context.clock.monotonicMs())) {
      const node = this.nodes.lister.get(name);
      const readiness = node && readinessOf(node);
      if (!node || readiness === 'True' || readiness === 'None') {
        this.queue.delete(name);
        continue;
      }
      if (!(await this.evictions.evict(node))) continue;
      this.queue.delete(name);
      this.metrics.evicted(zoneOf(node));
    }
  }

  private async observe(node: Node): Promise<ObservedNode> {
    const name = nameOf(node);
    const lease = this.leases.lister.get(`${dialect().nodeLeaseNamespace}/${name}`);
    const health = this.heartbeats.observe(node, lease, this.context.clock.monotonicMs());
    const before = readinessOf(node);
    const after = health.isSilent && (await this.markUnknown(node)) ? 'Unknown' : before;
    if (before === 'True' && after === 'Unknown') {
      this.writer.event(node, 'NodeNotReady', 'status is now: NodeNotReady');
      this.podReadiness.nodeLost(name);
    } else if (before === 'True') {
      this.podReadiness.forget(name);
    }
    return { node, health, before, after };
  }

  /** @returns whether the node was marked now. */
  private async markUnknown(node: Node): Promise<boolean> {
    const conditions = unknownConditions(node, this.context.clock.nowMs());
    if (!conditions) return false;
    try {
      const status = { ...node.status, conditions };
      await this.context.client.resource(resources.nodes).replaceStatus({ ...node, status });
      return true;
    } catch (error) {
      // Changed or deleted in the meantime: the next period checks it again.
      if (!(error instanceof ApiError)) throw error;
      this.context.logger.info({ err: error, node: nameOf(node) }, 'node status was not written');
      return false;
    }
  }

  private partitionObserved({ isPartitioned }: ClusterState, nodes: number, nowMs: number): void {
    if (isPartitioned === this.wasPartitioned) return;
    this.wasPartitioned = isPartitioned;
    if (!isPartitioned) this.heartbeats.reset(nowMs);
    const message = isPartitioned ? 'no node is ready, evictions stop' : 'nodes are ready again';
    this.context.logger.warn({ nodes }, message);
  }

  private async decide(
    { node, health, before }: ObservedNode,
    isPartitioned: boolean,
  ): Promise<void> {
    const name = nameOf(node);
    try {
      if (isPartitioned) {
        this.queue.delete(name);
        await this.evictions.cancel(node);
      } else if (this.evictions.isDue(node, before, health)) {
        if (this.queue.add(name, zoneOf(node))) {
          this.context.logger.info({ node: name, zone: zoneOf(node) }, 'node waits for eviction');
        }
      } else {
        this.queue.delete(name);
        await this.evictions.continue(node, before);
      }
    } catch (error) {
      // A node that cannot be written does not affect others; the next period retries.
      if (!(error instanceof ApiError)) throw error;
      this.context.logger.warn({ err: error, node: name }, 'eviction failed');
    }
  }

  private nodeDeleted(node: Node): void {
    const name = nameOf(node);
    this.heartbeats.forget(name);
    this.queue.delete(name);
    this.evictions.forget(name);
    this.podReadiness.forget(name);
    this.writer.event(node, 'RemovingNode', `event: Removing Node ${name} from Controller`);
  }
}

function nameOf(node: Node): string {
  return node.metadata?.name ?? '';
}

function isOnNode(pod: Pod): boolean {
  return Boolean(pod.spec?.nodeName) && isPodReady(pod);
}
