/** Commits to etcd, a bounded number at a time. A commit resolves when the mirror shows it. */
import type { Clock } from '@orch/component';
import type { StoreObserver } from '../../store-observer.js';
import {
  type CommitResult,
  type Entry,
  type Operation,
  type Revision,
  StoreError,
} from '../../versioned-store.js';
import { EtcdError, isLeaseGone } from '../client/errors.js';
import type { EtcdCluster } from '../client/etcd-cluster.js';
import { type TxnRequest, type TxnResponse, txn } from '../client/messages.js';
import { type KeyLayout, toStoreRevision } from '../layout/key-layout.js';
import { commitsMax } from '../limits.js';
import { Leases } from './leases.js';
import { resultOf, timesToLive, transactionOf, underLeases } from './transaction.js';

export interface CommitHooks {
  /** Resolves when the mirror shows `revision`. */
  shown(revision: Revision, timeoutMs: number): Promise<void>;
  /** Returns the mirror's entry of `key` if it is of `revision`. */
  known(key: string, revision: Revision): Entry | undefined;
}

export class EtcdWriter {
  private readonly leases: Leases;
  private inFlightCount = 0;

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly layout: KeyLayout,
    private readonly clock: Clock,
    private readonly observer: StoreObserver | undefined,
  ) {
    this.leases = new Leases(cluster, clock);
  }

  /** Rejects with StoreError; only after `OutcomeUnknown` may the commit have taken effect. */
  async commit(
    operations: readonly Operation[],
    timeoutMs: number,
    hooks: CommitHooks,
  ): Promise<CommitResult> {
    if (this.inFlightCount >= commitsMax) {
      throw new StoreError(
        'Overloaded',
        `${this.inFlightCount} commits are in flight, the limit is ${commitsMax}: retry later`,
      );
    }
    const startedMs = this.clock.monotonicMs();
    const remainingMs = () => startedMs + timeoutMs - this.clock.monotonicMs();
    const request = transactionOf(operations, this.layout);
    this.inFlightCount += 1;
    try {
      const answer = await this.send(request, operations, remainingMs);
      const revision = toStoreRevision(answer.header.revision);
      await this.untilShown(revision, remainingMs(), hooks);
      const result = resultOf(operations, request, answer, hooks.known);
      this.observer?.committed(this.clock.monotonicMs() - startedMs, operations.length);
      return result;
    } catch (error) {
      this.observer?.commitFailed(error instanceof StoreError ? error.code : 'Unavailable');
      throw error;
    } finally {
      this.inFlightCount -= 1;
    }
  }

  /** The commit took effect, even if its changes are late or the store stops meanwhile. */
  private async untilShown(
    revision: Revision,
    timeoutMs: number,
    hooks: CommitHooks,
  ): Promise<void> {
    try {
      await hooks.shown(revision, timeoutMs);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  private async send(
    request: TxnRequest,
    operations: readonly Operation[],
    remainingMs: () => number,
  ): Promise<TxnResponse> {
    const lives = timesToLive(operations);
    if (lives.size === 0) return this.cluster.write(txn, request, remainingMs());
    try {
      return await this.sendUnderLeases(request, operations, lives, remainingMs);
    } catch (error) {
      if (!(error instanceof EtcdError) || !isLeaseGone(error)) throw error;
      for (const timeToLiveMs of lives.keys()) this.leases.forget(timeToLiveMs);
    }
    try {
      return await this.sendUnderLeases(request, operations, lives, remainingMs);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      throw new StoreError('Unavailable', error.message);
    }
  }

  private async sendUnderLeases(
    request: TxnRequest,
    operations: readonly Operation[],
    lives: ReadonlyMap<number, number>,
    remainingMs: () => number,
  ): Promise<TxnResponse> {
    const leases = new Map<number, string>();
    for (const [timeToLiveMs, keyCount] of lives) {
      leases.set(timeToLiveMs, await this.leases.lease(timeToLiveMs, keyCount, remainingMs()));
    }
    const leased = underLeases(request, operations, leases);
    return this.cluster.write(txn, leased, remainingMs());
  }
}
