/**
 * Determines the revision that a read must see and waits until the mirror shows it. Invariant: a
 * quorum read sees every commit that any server acknowledged before the wait started.
 */

import type { Clock } from '@orch/component';
import { asLogIndex } from '@orch/raft';
import { ProgressWaiters } from '../../reading/progress-waiters.js';
import { ReadBarrier } from '../../reading/read-barrier.js';
import { futureRevisionError } from '../../revision-errors.js';
import type { StoreObserver } from '../../store-observer.js';
import { type ReadConsistency, type Revision, StoreError } from '../../versioned-store.js';
import type { EtcdReader } from '../requests/etcd-reader.js';
import type { Mirror } from './mirror.js';

export interface ReadPositionHooks {
  /** etcd has reached `revision`: its changes must arrive. */
  expect(revision: number): void;
  /** etcd has lost revisions, so that memory cannot be trusted. */
  wentBack(error: StoreError): void;
}

export class ReadPositions {
  private readonly barrier: ReadBarrier;
  private readonly waiters: ProgressWaiters;
  private stopped: StoreError | undefined;

  constructor(
    private readonly reader: EtcdReader,
    private readonly mirror: Mirror,
    private readonly clock: Clock,
    observer: StoreObserver | undefined,
    private readonly hooks: ReadPositionHooks,
  ) {
    // Over etcd, the barrier's index is a revision.
    const readBarrier = async (deadlineMs: number) =>
      asLogIndex(Number(await this.newest(deadlineMs - clock.monotonicMs())));
    this.barrier = new ReadBarrier({ readBarrier }, clock, observer);
    this.waiters = new ProgressWaiters(clock);
  }

  /** The mirror shows `revision` now. */
  advance(revision: number): void {
    this.waiters.advance(revision);
  }

  stop(error: StoreError): void {
    this.stopped = error;
    this.waiters.rejectAll(error);
  }

  /** Returns etcd's newest revision. Rejects with StoreError. */
  async newest(timeoutMs: number): Promise<Revision> {
    const shown = this.mirror.revision;
    const newest = await this.reader.newestRevision(timeoutMs);
    if (newest >= shown) return newest;
    const error = new StoreError(
      'Corrupt',
      `etcd is at revision ${newest} and was at ${shown} before: it was restored or replaced; restart every API server`,
    );
    this.hooks.wentBack(error);
    throw error;
  }

  /** Resolves when the mirror shows `revision`, which etcd has reached; rejects with StoreError. */
  async shown(revision: number, timeoutMs: number): Promise<void> {
    if (this.mirror.revision >= revision) return;
    if (this.stopped) throw this.stopped;
    this.hooks.expect(revision);
    await this.waiters.wait(
      revision,
      timeoutMs,
      () => new StoreError('Unavailable', 'the changes of etcd do not arrive'),
    );
  }

  /** Waits for the consistency. Returns the revision to read at; undefined: the present state. */
  async reach(consistency: ReadConsistency, timeoutMs: number): Promise<Revision | undefined> {
    if (consistency.kind === 'any') return undefined;
    if (consistency.kind === 'quorum') {
      const deadlineMs = this.clock.monotonicMs() + timeoutMs;
      const newest = await this.barrier.pass(timeoutMs);
      await this.shown(newest, deadlineMs - this.clock.monotonicMs());
      return undefined;
    }
    const { revision } = consistency;
    if (revision > this.mirror.revision) await this.reached(revision, timeoutMs);
    return consistency.kind === 'exact' ? revision : undefined;
  }

  private async reached(revision: Revision, timeoutMs: number): Promise<void> {
    // The revision may have changed no key of this store. If this fails, the wait ends by its
    // deadline.
    this.barrier.pass(timeoutMs).then(
      (newest) => this.hooks.expect(newest),
      () => undefined,
    );
    await this.waiters.wait(revision, timeoutMs, () =>
      futureRevisionError(revision, this.mirror.revision),
    );
  }
}
