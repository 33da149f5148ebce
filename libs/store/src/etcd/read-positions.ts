/**
 * How recent a read has to be, and waiting until the mirror is. Invariant: whoever waited for a quorum
 * sees everything that was acknowledged anywhere before the wait began.
 */
import type { Clock } from '@orch/component';
import type { LogIndex } from '@orch/raft';
import { ProgressWaiters } from '../shell/progress-waiters.js';
import { ReadBarrier } from '../shell/read-barrier.js';
import type { StoreObserver } from '../store-observer.js';
import { type ReadConsistency, type Revision, StoreError } from '../versioned-store.js';
import type { EtcdReader } from './etcd-reader.js';
import type { Mirror } from './mirror.js';

export interface ReadPositionHooks {
  /** etcd has reached `revision`: its changes have to come. */
  expect(revision: number): void;
  /** etcd is not what it was; nothing in memory can be trusted. */
  wentBack(error: StoreError): void;
}

export class ReadPositions {
  readonly #barrier: ReadBarrier;
  readonly #waiters: ProgressWaiters;
  #stopped: StoreError | undefined;

  constructor(
    private readonly reader: EtcdReader,
    private readonly mirror: Mirror,
    private readonly clock: Clock,
    observer: StoreObserver | undefined,
    private readonly hooks: ReadPositionHooks,
  ) {
    // What a reader has to see is a revision here.
    const readBarrier = async (deadlineMs: number) =>
      Number(await this.newest(deadlineMs - clock.monotonicMs())) as LogIndex;
    this.#barrier = new ReadBarrier({ readBarrier }, clock, observer);
    this.#waiters = new ProgressWaiters(clock);
  }

  /** The mirror shows `revision` now. */
  advance(revision: number): void {
    this.#waiters.advance(revision);
  }

  stop(error: StoreError): void {
    this.#stopped = error;
    this.#waiters.rejectAll(error);
  }

  /** What etcd stands at. Rejects with StoreError. */
  async newest(timeoutMs: number): Promise<Revision> {
    const shown = this.mirror.revision;
    const newest = await this.reader.newestRevision(timeoutMs);
    if (newest >= shown) return newest;
    const error = new StoreError(
      'Corrupt',
      `etcd stands at revision ${newest} and was at ${shown} before: it was restored or replaced, so every API server has to be restarted`,
    );
    this.hooks.wentBack(error);
    throw error;
  }

  /** Resolves when the mirror shows `revision`, which etcd has reached; rejects with StoreError. */
  async shown(revision: number, timeoutMs: number): Promise<void> {
    if (this.mirror.revision >= revision) return;
    if (this.#stopped) throw this.#stopped;
    this.hooks.expect(revision);
    await this.#waiters.wait(
      revision,
      timeoutMs,
      () => new StoreError('Unavailable', 'the changes of etcd do not arrive'),
    );
  }

  /** Waits as the consistency asks; a number: read as of that revision, else the present. */
  async reach(consistency: ReadConsistency, timeoutMs: number): Promise<Revision | undefined> {
    if (consistency.kind === 'any') return undefined;
    if (consistency.kind === 'quorum') {
      const deadlineMs = this.clock.monotonicMs() + timeoutMs;
      const newest = await this.#barrier.pass(timeoutMs);
      await this.shown(newest, deadlineMs - this.clock.monotonicMs());
      return undefined;
    }
    const { revision } = consistency;
    if (revision > this.mirror.revision) await this.#reached(revision, timeoutMs);
    return consistency.kind === 'exact' ? revision : undefined;
  }

  async #reached(revision: Revision, timeoutMs: number): Promise<void> {
    // It may be one that changed none of our keys. What fails here fails the wait by its deadline.
    this.#barrier.pass(timeoutMs).then(
      (newest) => this.hooks.expect(newest),
      () => undefined,
    );
    await this.#waiters.wait(revision, timeoutMs, () => future(revision, this.mirror.revision));
  }
}

export function future(asked: Revision, known: Revision): StoreError {
  return new StoreError('FutureRevision', `revision ${asked} is not reached, ${known} is`, known);
}
