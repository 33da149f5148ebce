/** Gets and lists: waits as their consistency asks, then looks at the state in use at that moment. */
import type { Clock } from '@orch/component';
import type { ReplicatedLog } from '@orch/raft';
import type { StoreObserver } from '../store-observer.js';
import {
  type GetResult,
  type ListOptions,
  type ListResult,
  type ReadOptions,
  type Revision,
  StoreError,
} from '../versioned-store.js';
import { compacted } from './catch-up.js';
import type { LiveState } from './live-state.js';
import { ProgressWaiters } from './progress-waiters.js';
import { ReadBarrier } from './read-barrier.js';
import { future } from './watches.js';

export class Reads {
  readonly #barrier: ReadBarrier;
  readonly #appliedWaiters: ProgressWaiters;
  readonly #revisionWaiters: ProgressWaiters;

  constructor(
    log: ReplicatedLog,
    private readonly clock: Clock,
    observer: StoreObserver | undefined,
    /** The state in use; throws StoreError when there is none. */
    private readonly live: () => LiveState,
  ) {
    this.#barrier = new ReadBarrier(log, clock, observer);
    this.#appliedWaiters = new ProgressWaiters(clock);
    this.#revisionWaiters = new ProgressWaiters(clock);
  }

  async get(key: string, { consistency, timeoutMs }: ReadOptions): Promise<GetResult> {
    const revision = await this.#position(consistency, timeoutMs);
    const { machine, reader } = this.live();
    const entry = revision === undefined ? machine.keys.get(key) : reader.at(key, revision);
    return { entry, revision: machine.revision };
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const { startAfter, limit = Number.POSITIVE_INFINITY } = options;
    const revision = await this.#position(options.consistency, options.timeoutMs);
    const range = { prefix, startAfter, limit };
    const { lister } = this.live();
    return revision === undefined ? lister.latest(range) : lister.at(range, revision);
  }

  /** The state has got so far. */
  advance(appliedIndex: number, revision: Revision): void {
    this.#appliedWaiters.advance(appliedIndex);
    this.#revisionWaiters.advance(revision);
  }

  stop(error: StoreError): void {
    this.#appliedWaiters.rejectAll(error);
    this.#revisionWaiters.rejectAll(error);
  }

  /** Waits as the consistency asks; a number: read as of that revision, else the present. */
  async #position(
    consistency: ReadOptions['consistency'],
    timeoutMs: number,
  ): Promise<Revision | undefined> {
    const { machine } = this.live();
    if (consistency.kind === 'any') return undefined;
    if (consistency.kind === 'quorum') {
      await this.#passBarrier(timeoutMs);
      return undefined;
    }
    const { revision } = consistency;
    if (revision > machine.revision) {
      await this.#revisionWaiters.wait(revision, timeoutMs, () =>
        future(revision, machine.revision),
      );
    }
    if (consistency.kind === 'notOlderThan') return undefined;
    const { oldestRevision } = this.live().machine;
    if (revision < oldestRevision) throw compacted(revision, oldestRevision);
    return revision;
  }

  async #passBarrier(timeoutMs: number): Promise<void> {
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    const index = await this.#barrier.pass(timeoutMs);
    if (index <= this.live().machine.appliedIndex) return;
    await this.#appliedWaiters.wait(
      index,
      deadlineMs - this.clock.monotonicMs(),
      () => new StoreError('Unavailable', 'this replica is too far behind for a consistent read'),
    );
  }
}
