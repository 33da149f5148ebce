/**
 * Times to live as leases of etcd. Keys with the same time to live that are put within a short time
 * share a lease, which is granted that much longer. A key expires early by no more than the
 * duration of its commit, and late by at most `leaseSlackShare` of its time, plus the granularity
 * of etcd: its shortest lease is one and a half election timeouts, in whole seconds.
 */
import type { Clock } from '@orch/component';
import { StoreError } from '../../versioned-store.js';
import type { EtcdCluster } from '../client/etcd-cluster.js';
import { leaseGrant } from '../client/messages.js';
import { leaseKeysMax, leaseSlackMaxMs, leaseSlackShare, leasesMax } from '../limits.js';

interface Lease {
  readonly id: Promise<string>;
  /** A key put under it after this time would expire early. */
  readonly sharedUntilMs: number;
  keyCount: number;
}

export class Leases {
  private readonly leases = new Map<number, Lease>();

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the id of a lease that lives at least that long from now on. Rejects with StoreError
   * without having an effect.
   */
  async lease(timeToLiveMs: number, keyCount: number, timeoutMs: number): Promise<string> {
    const shared = this.leases.get(timeToLiveMs);
    if (
      shared &&
      shared.sharedUntilMs > this.clock.monotonicMs() &&
      shared.keyCount + keyCount <= leaseKeysMax
    ) {
      shared.keyCount += keyCount;
      return shared.id;
    }
    const slackMs = Math.min(timeToLiveMs * leaseSlackShare, leaseSlackMaxMs);
    const lease: Lease = {
      id: this.grant(timeToLiveMs + slackMs, timeoutMs),
      sharedUntilMs: this.clock.monotonicMs() + slackMs,
      keyCount,
    };
    this.forget(timeToLiveMs);
    this.leases.set(timeToLiveMs, lease);
    if (this.leases.size > leasesMax) this.forget(this.leases.keys().next().value);
    try {
      return await lease.id;
    } catch (error) {
      if (this.leases.get(timeToLiveMs) === lease) this.forget(timeToLiveMs);
      throw error;
    }
  }

  /** The lease has ended. */
  forget(timeToLiveMs: number | undefined): void {
    if (timeToLiveMs !== undefined) this.leases.delete(timeToLiveMs);
  }

  private async grant(lifeMs: number, timeoutMs: number): Promise<string> {
    // A grant whose response is lost leaves a lease without keys, which ends by itself.
    const request = { TTL: Math.ceil(lifeMs / 1_000) };
    const { ID, error } = await this.cluster.read(leaseGrant, request, timeoutMs);
    if (error !== '') throw new StoreError('Unavailable', `etcd grants no lease: ${error}`);
    return ID;
  }
}
