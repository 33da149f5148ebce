/**
 * Assigns each node its part of the cluster CIDRs. The ranges of existing nodes are occupied before
 * the first assignment, because the informer delivers all nodes before the workers start.
 */
import { ApiError, type EventRecorder, type Informer, isNotFound, resources } from '@orch/client';
import { UsageError } from '@orch/component';
import type { Node } from '@orch/types/core/v1';
import {
  type ControllerContext,
  type ControllerFactory,
  done,
  type ReconcileResult,
} from '../common/controller.js';
import { controller } from '../common/controller-builder.js';
import type { NodeIpamOptions } from '../common/node-ipam-options.js';
import { never } from '../common/watches.js';
import { limits } from '../limits.js';
import { CidrSet } from './cidr-set.js';
import { NodeIpamMetrics } from './node-ipam-metrics.js';
import { NodeRanges } from './node-ranges.js';

export const nodeIpamController: ControllerFactory = (context, { nodeIpam }) => {
  if (!nodeIpam.allocateNodeCidrs) return undefined;
  const reconciler = new NodeIpamReconciler(context, nodeIpam);
  const built = controller('node_ipam', context)
    .workers(limits.nodeIpamWorkerCount)
    .for(resources.nodes, { create: needsRanges, update: needsRanges, delete: never });
  reconciler.watch((name) => built.queue.add(name));
  return built.reconcile((name) => reconciler.reconcile(name));
};

class NodeIpamReconciler {
  private readonly nodes: Informer<Node>;
  private readonly recorder: EventRecorder;
  private readonly ranges: NodeRanges;
  private readonly metrics: NodeIpamMetrics;
  /** Names of nodes for which no range was left. */
  private readonly waiting = new Set<string>();

  constructor(
    private readonly context: ControllerContext,
    options: NodeIpamOptions,
  ) {
    const clusterRanges = options.clusterRanges();
    if (clusterRanges.length > 1 && !context.features.enabled('IPv6DualStack')) {
      throw new UsageError('--cluster-cidr: a second range needs the feature gate IPv6DualStack');
    }
    const sets = clusterRanges.map(({ cidr, nodePrefix }) => new CidrSet(cidr, nodePrefix));
    this.nodes = context.informers.informer(resources.nodes);
    this.recorder = context.recorder('cidrAllocator');
    this.ranges = new NodeRanges(sets, options.serviceCidrs);
    this.metrics = new NodeIpamMetrics(context.metrics, sets);
  }

  /** Occupies the ranges that nodes have. `enqueue` is called for a node that can get one again. */
  watch(enqueue: (name: string) => void): void {
    this.nodes.addHandlers({
      onAdd: (node) => this.observe(node),
      onUpdate: (node) => this.observe(node),
      onDelete: (node) => {
        const name = node.metadata?.name ?? '';
        this.waiting.delete(name);
        this.free(name);
        const [next] = this.waiting;
        if (next === undefined) return;
        this.waiting.delete(next);
        enqueue(next);
      },
    });
  }

  async reconcile(name: string): Promise<ReconcileResult> {
    const node = this.nodes.lister.get(name);
    if (!node || !needsRanges(node)) return done;
    const allocation = this.ranges.allocate(name);
    if (!allocation) {
      this.waiting.add(name);
      this.recordStatus(node, 'CIDRNotAvailable');
      return { requeueAfterMs: limits.nodeIpamRetryMs };
    }
    this.waiting.delete(name);
    this.metrics.allocated(allocation.tries);
    try {
      await this.assign(node, allocation.ranges);
    } catch (error) {
      // A rejected range is free again. After any other failure the node may have it.
      if (error instanceof ApiError && error.statusCode < 500) this.free(name);
      if (isNotFound(error)) return done;
      this.recordStatus(node, 'CIDRAssignmentFailed');
      throw error;
    }
    return done;
  }

  private async assign(node: Node, ranges: readonly string[]): Promise<void> {
    const { name = '', uid } = node.metadata ?? {};
    const body = { metadata: { uid }, spec: { podCIDR: ranges[0], podCIDRs: ranges } };
    await this.context.client.resource(resources.nodes).patch(name, body, { type: 'strategic' });
    this.context.logger.info({ node: name, ranges }, 'ranges assigned');
  }

  private observe(node: Node): void {
    const ranges = node.spec?.podCIDRs ?? [];
    if (ranges.length === 0) return;
    const name = node.metadata?.name ?? '';
    const outside = this.ranges.hold(name, ranges);
    this.metrics.update();
    if (outside.length === 0) return;
    const message = 'ranges of a node are outside of --cluster-cidr, they stay as they are';
    this.context.logger.warn({ node: name, ranges: outside }, message);
  }

  private free(name: string): void {
    if (this.ranges.free(name)) this.metrics.update();
  }

  private recordStatus(node: Node, status: string): void {
    const { name = '', uid } = node.metadata ?? {};
    const regarding = { apiVersion: 'v1', kind: 'Node', name, uid };
    this.recorder.event(regarding, 'Normal', status, `Node ${name} status is now: ${status}`);
  }
}

function needsRanges({ metadata, spec }: Node): boolean {
  return !metadata?.deletionTimestamp && (spec?.podCIDRs ?? []).length === 0;
}
