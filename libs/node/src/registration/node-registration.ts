/**
 * Maintains the node's API objects: registers the node, reports its status when it changes and
 * periodically, and renews its lease, which is the heartbeat of the node. Other components set the
 * taints. All of it is done at the common moments of the process.
 */
import { formatMicroTime } from '@orch/apimachinery';
import { type ApiClient, isAlreadyExists, isConflict, isNotFound, resources } from '@orch/client';
import { alignedDelayMs, type Clock, dialect, type Logger, type Timer } from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import type { Node, NodeStatus } from '@orch/types/core/v1';
import { nodeStatusReportPeriodMs } from '../limits.js';
import { hasChanged } from './node-status.js';

export interface NodeRegistrationDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly podCidr: string;
  /** Period in which the status is computed. */
  readonly statusPeriodMs: number;
  readonly leaseDurationSeconds: number;
  /** Computes the current status. */
  status(current: Node | undefined): Promise<NodeStatus>;
}

export class NodeRegistration {
  private node: Node | undefined;
  private reportedMs = Number.NEGATIVE_INFINITY;
  private lease: Lease | undefined;
  private readonly timers = new Set<Timer>();
  private phaseMs = 0;
  private stopped = false;

  constructor(private readonly dependencies: NodeRegistrationDependencies) {}

  /**
   * Starts reporting; failed reports are retried in the next period. `phaseMs` moves the reports
   * away from the common moments of the process.
   */
  start(phaseMs = 0): void {
    this.phaseMs = phaseMs;
    const renewMs = (this.dependencies.leaseDurationSeconds * 1000) / 4;
    // The owner of the lease is the node, so the node is registered first.
    const startRenewal = () => this.repeat(renewMs, 'node lease', () => this.renew());
    this.repeat(this.dependencies.statusPeriodMs, 'node status', () => this.report(), startRenewal);
  }

  stop(): void {
    this.stopped = true;
    for (const timer of this.timers) timer.cancel();
  }

  private repeat(
    periodMs: number,
    what: string,
    work: () => Promise<void>,
    afterFirst?: () => void,
  ): void {
    const { clock, logger } = this.dependencies;
    let onFirst = afterFirst;
    const runOnce = (): void => {
      work()
        .catch((error: unknown) => logger.warn({ err: error, what }, 'node report failed'))
        .finally(() => {
          if (this.stopped) return;
          onFirst?.();
          onFirst = undefined;
          const timer = clock.setTimer(alignedDelayMs(clock, periodMs, this.phaseMs), () => {
            this.timers.delete(timer);
            runOnce();
          });
          this.timers.add(timer);
        });
    };
    runOnce();
  }

  private async report(): Promise<void> {
    const { client, clock, nodeName, logger } = this.dependencies;
    const nodes = client.resource(resources.nodes);
    this.node = await this.currentNode();
    const status = await this.dependencies.status(this.node);
    const isDue = clock.monotonicMs() - this.reportedMs >= nodeStatusReportPeriodMs;
    if (!isDue && !hasChanged(this.node, status)) return;
    try {
      this.node = await nodes.patchStatus(nodeName, { status }, { type: 'strategic' });
      this.reportedMs = clock.monotonicMs();
    } catch (error) {
      this.node = undefined;
      if (!isNotFound(error)) throw error;
      logger.warn({ node: nodeName }, 'node object was deleted, registering again');
      await this.report();
    }
  }

  /** Others write the status too: the controller manager marks a silent node as unknown. */
  private async currentNode(): Promise<Node> {
    const { client, nodeName } = this.dependencies;
    if (!this.node) return this.register();
    try {
      return await client.resource(resources.nodes).get(nodeName, { resourceVersion: '0' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return this.register();
    }
  }

  private async register(): Promise<Node> {
    const { client, nodeName, labels, annotations, podCidr, logger } = this.dependencies;
    const nodes = client.resource(resources.nodes);
    const status = await this.dependencies.status(undefined);
    const object: Node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: nodeName, labels: { ...labels }, annotations: { ...annotations } },
      spec: { podCIDR: podCidr, podCIDRs: [podCidr] },
      status,
    };
    try {
      const created = await nodes.create(object);
      logger.info({ node: nodeName }, 'node registered');
      return created;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const existing = await nodes.get(nodeName);
    const { metadata = {} } = existing;
    if (contains(metadata.labels, labels) && contains(metadata.annotations, annotations)) {
      return existing;
    }
    const body = { metadata: { labels, annotations } };
    return nodes.patch(nodeName, body, { type: 'strategic' });
  }

  private async renew(): Promise<void> {
    const { client, clock, nodeName, leaseDurationSeconds } = this.dependencies;
    const leases = client.resource(resources.leases, dialect().nodeLeaseNamespace);
    const spec = {
      holderIdentity: nodeName,
      leaseDurationSeconds,
      renewTime: formatMicroTime(clock.nowMs()),
    };
    try {
      if (!this.lease) {
        const owner = this.node?.metadata;
        this.lease = await leases.create({
          apiVersion: dialect().apiVersion('coordination', 'v1'),
          kind: 'Lease',
          metadata: {
            name: nodeName,
            namespace: dialect().nodeLeaseNamespace,
            ...(owner?.uid
              ? {
                  ownerReferences: [
                    { apiVersion: 'v1', kind: 'Node', name: nodeName, uid: owner.uid },
                  ],
                }
              : {}),
          },
          spec,
        });
      } else {
        this.lease = await leases.replace({ ...this.lease, spec: { ...this.lease.spec, ...spec } });
      }
    } catch (error) {
      this.lease = undefined;
      if (isAlreadyExists(error) || isConflict(error)) {
        const current = await leases.get(nodeName);
        this.lease = await leases.replace({ ...current, spec: { ...current.spec, ...spec } });
        return;
      }
      throw error;
    }
  }
}

function contains(
  entries: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => entries?.[key] === value);
}
