/** Commits of the past with their events, from a stream of their own. */
import type { Clock, Timer } from '@orch/component';
import { type Revision, StoreError } from '../versioned-store.js';
import { ChangeStream } from './change-stream.js';
import { type Change, type EtcdWatchEvent, eventOf } from './changes.js';
import type { EtcdCluster } from './etcd-cluster.js';
import type { KeyLayout } from './key-layout.js';
import { PROGRESS_REQUEST_MS, READ_TRY_MS } from './limits.js';
import type { RecentCommit } from './recent-commits.js';

export interface HistoryStep {
  readonly commits: readonly RecentCommit[];
  /** Everything up to it has been told. */
  readonly revision: number;
}

export class History {
  constructor(
    private readonly cluster: EtcdCluster,
    private readonly layout: KeyLayout,
    private readonly clock: Clock,
  ) {}

  /**
   * What came after one revision, up to and including another that etcd has reached. Throws StoreError
   * `Compacted` when it is gone, `Unavailable` when no server tells it within some seconds.
   */
  async *between(afterRevision: number, upTo: number): AsyncGenerator<HistoryStep> {
    const member = await this.cluster.member(READ_TRY_MS);
    const stream = new ChangeStream(member, {
      layout: this.layout,
      afterRevision,
      withPrevious: true,
    });
    const watchdog = new Watchdog(this.clock, stream);
    try {
      for await (const { commits, revision } of stream) {
        watchdog.heard();
        yield {
          commits: commits
            .filter((commit) => commit.revision <= upTo && commit.changes.length > 0)
            .map((commit) => ({
              revision: commit.revision,
              events: commit.changes.map((change) => pastEvent(change, commit.revision)),
            })),
          revision: Math.min(revision, upTo),
        };
        if (revision >= upTo) return;
        watchdog.heard();
      }
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.cluster.leave(member);
      const reason = error instanceof Error ? error.message : String(error);
      throw new StoreError('Unavailable', `history cannot be read now: ${reason}`);
    } finally {
      watchdog.stop();
      stream.close();
    }
  }
}

/** The version before a change goes with the compaction of its revision, even while this is read. */
function pastEvent(change: Change, revision: Revision): EtcdWatchEvent {
  if (change.existed && !change.previous) {
    throw new StoreError(
      'Compacted',
      `revision ${revision} was compacted while it was read`,
      revision,
    );
  }
  return eventOf(change, change.previous, revision);
}

/** Asks for progress again and again, and closes a stream on which nothing comes. */
class Watchdog {
  #heardAtMs: number;
  #timer: Timer;

  constructor(
    private readonly clock: Clock,
    private readonly stream: ChangeStream,
  ) {
    this.#heardAtMs = clock.monotonicMs();
    this.#timer = this.#next();
  }

  heard(): void {
    this.#heardAtMs = this.clock.monotonicMs();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #next(): Timer {
    return this.clock.setTimer(PROGRESS_REQUEST_MS, () => {
      if (this.clock.monotonicMs() - this.#heardAtMs > READ_TRY_MS) {
        this.stream.close();
        return;
      }
      this.stream.requestProgress();
      this.#timer = this.#next();
    });
  }
}
