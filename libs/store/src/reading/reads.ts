/** Gets and lists: waits for the requested consistency, then reads the state in use. */
import type { Awaitable, Clock } from '@orch/component';
import type { ReplicatedLog } from '@orch/raft';
import { compactedError, futureRevisionError } from '../revision-errors.js';
import type { LiveState } from '../state/live-state.js';
import type { StoreObserver } from '../store-observer.js';
import {
  type GetResult,
  type ListOptions,
  type ListResult,
  type ReadOptions,
  type Revision,
  StoreError,
} from '../versioned-store.js';
import { ProgressWaiters } from './progress-waiters.js';
import { ReadBarrier } from './read-barrier.js';

export class Reads {
  private readonly barrier: ReadBarrier;
  private readonly appliedWaiters: ProgressWaiters;
  private readonly revisionWaiters: ProgressWaiters;

  constructor(
    private readonly log: ReplicatedLog,
    private readonly clock: Clock,
    observer: StoreObserver | undefined,
    /** Returns the state in use; throws StoreError if there is none. */
    private readonly live: () => LiveState,
  ) {
    this.barrier = new ReadBarrier(log, clock, observer);
    this.appliedWaiters = new ProgressWaiters(clock);
    this.revisionWaiters = new ProgressWaiters(clock);
  }

  /** A promise only if it has to wait. Fails with StoreError. */
  get(key: string, { consistency, timeoutMs }: ReadOptions): Awaitable<GetResult> {
    if (consistency.kind === 'any') return this.entryAt(key, undefined);
    const revision = this.position(consistency, timeoutMs);
    if (!(revision instanceof Promise)) return this.entryAt(key, revision);
    return revision.then((reached) => this.entryAt(key, reached));
  }

  private entryAt(key: string, revision: Revision | undefined): GetResult {
    const { machine, reader } = this.live();
    const entry = revision === undefined ? machine.keys.get(key) : reader.at(key, revision);
    return { entry, revision: machine.revision };
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const { startAfter, limit = Number.POSITIVE_INFINITY, consistency } = options;
    const revision =
      consistency.kind === 'any' ? undefined : await this.position(consistency, options.timeoutMs);
    const range = { prefix, startAfter, limit };
    const { lister } = this.live();
    return revision === undefined ? lister.latest(range) : lister.at(range, revision);
  }

  /** The state has reached this index and revision. */
  advance(appliedIndex: number, revision: Revision): void {
    this.appliedWaiters.advance(appliedIndex);
    this.revisionWaiters.advance(revision);
  }

  stop(error: StoreError): void {
    this.appliedWaiters.rejectAll(error);
    this.revisionWaiters.rejectAll(error);
  }

  /** Waits for the consistency. Returns the revision to read at; undefined: the present state. */
  private position(
    consistency: Exclude<ReadOptions['consistency'], { kind: 'any' }>,
    timeoutMs: number,
  ): Awaitable<Revision | undefined> {
    const { machine } = this.live();
    if (consistency.kind !== 'quorum') return this.positionOf(consistency, timeoutMs);
    const index = this.log.localReadIndex();
    if (index !== undefined && index <= machine.appliedIndex) return undefined;
    return this.passBarrier(index, timeoutMs);
  }

  private async positionOf(
    consistency: Extract<ReadOptions['consistency'], { revision: Revision }>,
    timeoutMs: number,
  ): Promise<Revision | undefined> {
    const { machine } = this.live();
    const { revision } = consistency;
    if (revision > machine.revision) {
      await this.revisionWaiters.wait(revision, timeoutMs, () =>
        futureRevisionError(revision, machine.revision),
      );
    }
    if (consistency.kind === 'notOlderThan') return undefined;
    const { oldestRevision } = this.live().machine;
    if (revision < oldestRevision) throw compactedError(revision, oldestRevision);
    return revision;
  }

  /** `localIndex`: known without a round; undefined: a round has to find it. */
  private async passBarrier(localIndex: number | undefined, timeoutMs: number): Promise<undefined> {
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    const index = localIndex ?? (await this.barrier.pass(timeoutMs));
    if (index <= this.live().machine.appliedIndex) return;
    await this.appliedWaiters.wait(
      index,
      deadlineMs - this.clock.monotonicMs(),
      () =>
        new StoreError(
          'Unavailable',
          'this replica is too far behind for a consistent read: retry or use another server',
        ),
    );
  }
}
