/** Commits to etcd: a bounded number at a time, each answered once the mirror shows it. */
import type { Clock } from '@orch/component';
import type { StoreObserver } from '../store-observer.js';
import {
  type CommitResult,
  type Entry,
  type Operation,
  type Revision,
  StoreError,
} from '../versioned-store.js';
import { EtcdError, isLeaseGone } from './errors.js';
import type { EtcdCluster } from './etcd-cluster.js';
import { type KeyLayout, toStoreRevision } from './key-layout.js';
import { Leases } from './leases.js';
import { COMMITS_MAX } from './limits.js';
import { type TxnRequest, type TxnResponse, txn } from './messages.js';
import { resultOf, timesToLive, transactionOf, underLeases } from './transaction.js';

export interface CommitHooks {
  /** Resolves when the mirror shows that revision. */
  shown(revision: Revision, timeoutMs: number): Promise<void>;
  /** The mirror's entry of that key, if it is of that revision. */
  known(key: string, revision: Revision): Entry | undefined;
}

export class EtcdWriter {
  readonly #leases: Leases;
  #underWay = 0;

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly layout: KeyLayout,
    private readonly clock: Clock,
    private readonly observer: StoreObserver | undefined,
  ) {
    this.#leases = new Leases(cluster, clock);
  }

  /** Rejects with StoreError; only `OutcomeUnknown` leaves open whether it happened. */
  async commit(
    operations: readonly Operation[],
    timeoutMs: number,
    hooks: CommitHooks,
  ): Promise<CommitResult> {
    if (this.#underWay >= COMMITS_MAX) {
      throw new StoreError('Overloaded', `${this.#underWay} commits are under way`);
    }
    const startedMs = this.clock.monotonicMs();
    const remainingMs = () => startedMs + timeoutMs - this.clock.monotonicMs();
    const request = transactionOf(operations, this.layout);
    this.#underWay += 1;
    try {
      const answer = await this.#send(request, operations, remainingMs);
      const revision = toStoreRevision(answer.header.revision);
      await this.#untilShown(revision, remainingMs(), hooks);
      const result = resultOf(operations, request, answer, hooks.known);
      this.observer?.committed(this.clock.monotonicMs() - startedMs, operations.length);
      return result;
    } catch (error) {
      this.observer?.commitFailed(error instanceof StoreError ? error.code : 'Unavailable');
      throw error;
    } finally {
      this.#underWay -= 1;
    }
  }

  /** What happened has happened, also when its changes are late or the store stops meanwhile. */
  async #untilShown(revision: Revision, timeoutMs: number, hooks: CommitHooks): Promise<void> {
    try {
      await hooks.shown(revision, timeoutMs);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }

  async #send(
    request: TxnRequest,
    operations: readonly Operation[],
    remainingMs: () => number,
  ): Promise<TxnResponse> {
    const lives = timesToLive(operations);
    if (lives.size === 0) return this.cluster.write(txn, request, remainingMs());
    try {
      return await this.#sendUnderLeases(request, operations, lives, remainingMs);
    } catch (error) {
      if (!(error instanceof EtcdError) || !isLeaseGone(error)) throw error;
      for (const timeToLiveMs of lives.keys()) this.#leases.forget(timeToLiveMs);
    }
    try {
      return await this.#sendUnderLeases(request, operations, lives, remainingMs);
    } catch (error) {
      if (!(error instanceof EtcdError)) throw error;
      throw new StoreError('Unavailable', error.message);
    }
  }

  async #sendUnderLeases(
    request: TxnRequest,
    operations: readonly Operation[],
    lives: ReadonlyMap<number, number>,
    remainingMs: () => number,
  ): Promise<TxnResponse> {
    const leases = new Map<number, string>();
    for (const [timeToLiveMs, keyCount] of lives) {
      leases.set(timeToLiveMs, await this.#leases.lease(timeToLiveMs, keyCount, remainingMs()));
    }
    const leased = underLeases(request, operations, leases);
    return this.cluster.write(txn, leased, remainingMs());
  }
}
