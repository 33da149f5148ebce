/**
 * Keeps the node's own objects: registers it, reports its status when that changes and at least every
 * few minutes, and renews its lease, which is the heartbeat others go by. Taints are not the agent's.
 */
import { formatMicroTime } from '@orch/apimachinery';
import { isAlreadyExists, isConflict, isNotFound, type RestClient, resources } from '@orch/client';
import { type Clock, dialect, type Logger, type Timer } from '@orch/component';
import type { Lease } from '@orch/types/coordination/v1';
import type { Node, NodeStatus } from '@orch/types/core/v1';
import { nodeStatusReportPeriodMs } from '../limits.js';
import { hasChanged } from './node-status.js';

export interface NodeRegistrationSettings {
  readonly client: RestClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeName: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly podCidr: string;
  /** How often the status is looked at. */
  readonly statusPeriodMs: number;
  readonly leaseDurationSeconds: number;
  /** The status as it is now. */
  status(current: Node | undefined): Promise<NodeStatus>;
}

export class NodeRegistration {
  private node: Node | undefined;
  private reportedMs = 0;
  private lease: Lease | undefined;
  private readonly timers = new Set<Timer>();
  private stopped = false;

  constructor(private readonly settings: NodeRegistrationSettings) {}

  /** Begins; failures are tried again at the next turn. */
  start(): void {
    const renewMs = (this.settings.leaseDurationSeconds * 1000) / 4;
    // The lease belongs to the node, so the node comes first.
    const renewing = () => this.repeat(renewMs, 'node lease', () => this.renew());
    this.repeat(this.settings.statusPeriodMs, 'node status', () => this.report(), renewing);
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
    const { clock, logger } = this.settings;
    let then = afterFirst;
    const turn = (): void => {
      work()
        .catch((error: unknown) => logger.warn({ err: error, what }, 'node report failed'))
        .finally(() => {
          if (this.stopped) return;
          then?.();
          then = undefined;
          const timer = clock.setTimer(periodMs, () => {
            this.timers.delete(timer);
            turn();
          });
          this.timers.add(timer);
        });
    };
    turn();
  }

  private async report(): Promise<void> {
    const { client, clock, nodeName, logger } = this.settings;
    const nodes = client.resource(resources.nodes);
    this.node ??= await this.register();
    const status = await this.settings.status(this.node);
    const isDue = clock.nowMs() - this.reportedMs >= nodeStatusReportPeriodMs;
    if (!isDue && !hasChanged(this.node, status)) return;
    try {
      this.node = await nodes.patchStatus(nodeName, { status }, { type: 'strategic' });
      this.reportedMs = clock.nowMs();
    } catch (error) {
      this.node = undefined;
      if (!isNotFound(error)) throw error;
      logger.warn({ node: nodeName }, 'node object is gone, registering again');
      await this.report();
    }
  }

  private async register(): Promise<Node> {
    const { client, nodeName, labels, annotations, podCidr, logger } = this.settings;
    const nodes = client.resource(resources.nodes);
    const status = await this.settings.status(undefined);
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
    if (holds(metadata.labels, labels) && holds(metadata.annotations, annotations)) return existing;
    const body = { metadata: { labels, annotations } };
    return nodes.patch(nodeName, body, { type: 'strategic' });
  }

  private async renew(): Promise<void> {
    const { client, clock, nodeName, leaseDurationSeconds } = this.settings;
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

function holds(
  entries: Readonly<Record<string, string>> | undefined,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => entries?.[key] === value);
}
