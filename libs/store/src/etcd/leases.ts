/**
 * Times to live by leases of etcd. Keys of one time to live that come soon after one another share a
 * lease, which is granted that much longer. A key goes early by no more than its commit took, and late
 * by at most `LEASE_SLACK_SHARE` of its time (and by what etcd itself needs: its shortest lease is one
 * and a half election timeouts, in whole seconds).
 */
import type { Clock } from '@orch/component';
import { StoreError } from '../versioned-store.js';
import type { EtcdCluster } from './etcd-cluster.js';
import { LEASE_KEYS_MAX, LEASE_SLACK_MAX_MS, LEASE_SLACK_SHARE, LEASES_MAX } from './limits.js';
import { leaseGrant } from './messages.js';

interface Lease {
  readonly id: Promise<string>;
  /** Keys put under it later than this would go early. */
  readonly sharedUntilMs: number;
  keyCount: number;
}

export class Leases {
  readonly #leases = new Map<number, Lease>();

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly clock: Clock,
  ) {}

  /** The id of a lease that lives at least that long from now on. Rejects with StoreError, nothing having
   *  happened. */
  async lease(timeToLiveMs: number, keyCount: number, timeoutMs: number): Promise<string> {
    const shared = this.#leases.get(timeToLiveMs);
    if (
      shared &&
      shared.sharedUntilMs > this.clock.monotonicMs() &&
      shared.keyCount + keyCount <= LEASE_KEYS_MAX
    ) {
      shared.keyCount += keyCount;
      return shared.id;
    }
    const slackMs = Math.min(timeToLiveMs * LEASE_SLACK_SHARE, LEASE_SLACK_MAX_MS);
    const lease: Lease = {
      id: this.#grant(timeToLiveMs + slackMs, timeoutMs),
      sharedUntilMs: this.clock.monotonicMs() + slackMs,
      keyCount,
    };
    this.forget(timeToLiveMs);
    this.#leases.set(timeToLiveMs, lease);
    if (this.#leases.size > LEASES_MAX) this.forget(this.#leases.keys().next().value);
    try {
      return await lease.id;
    } catch (error) {
      if (this.#leases.get(timeToLiveMs) === lease) this.forget(timeToLiveMs);
      throw error;
    }
  }

  /** Its lease is over. */
  forget(timeToLiveMs: number | undefined): void {
    if (timeToLiveMs !== undefined) this.#leases.delete(timeToLiveMs);
  }

  async #grant(lifeMs: number, timeoutMs: number): Promise<string> {
    // A grant whose answer is lost leaves a lease without keys, which ends by itself.
    const request = { TTL: Math.ceil(lifeMs / 1_000) };
    const { ID, error } = await this.cluster.read(leaseGrant, request, timeoutMs);
    if (error !== '') throw new StoreError('Unavailable', `etcd grants no lease: ${error}`);
    return ID;
  }
}
