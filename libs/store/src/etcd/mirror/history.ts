/**
 * Past commits with their events: the recent ones from memory, earlier ones from a stream of etcd.
 */
import type { Clock, Timer } from '@orch/component';
import { errorMessage } from '@orch/component';
import { type Revision, StoreError } from '../../versioned-store.js';
import type { HistoryStep, WatchHistory } from '../../watching/watch-history.js';
import type { EtcdCluster } from '../client/etcd-cluster.js';
import { type Change, type EtcdWatchEvent, eventOf } from '../layout/changes.js';
import type { KeyLayout } from '../layout/key-layout.js';
import { progressRequestMs, readAttemptMs } from '../limits.js';
import { ChangeStream } from './change-stream.js';
import type { RecentCommit, RecentCommits } from './recent-commits.js';

export class History implements WatchHistory {
  /** etcd itself rejects a stream from a compacted revision. */
  readonly oldestRevision = 0 as Revision;

  constructor(
    private readonly cluster: EtcdCluster,
    private readonly layout: KeyLayout,
    private readonly recentCommits: RecentCommits,
    private readonly clock: Clock,
  ) {}

  get recentAfter(): Revision {
    return this.recentCommits.after;
  }

  /** Not known without a read of etcd. */
  mayHaveChanged(): boolean {
    return true;
  }

  recent(after: Revision, upTo: Revision): Iterable<RecentCommit> {
    return this.recentCommits.between(after, upTo);
  }

  /**
   * Streams the commits after one revision, up to and including another that etcd has reached.
   * Throws StoreError `Compacted` if they are gone, `Unavailable` if no server sends them within
   * seconds.
   */
  async *stored(after: Revision, upTo: Revision): AsyncGenerator<EtcdHistoryStep> {
    const member = await this.cluster.member(readAttemptMs);
    const stream = new ChangeStream(member, {
      layout: this.layout,
      afterRevision: after,
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
          revision: revision < upTo ? revision : upTo,
        };
        if (revision >= upTo) return;
        watchdog.heard();
      }
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.cluster.leave(member);
      throw new StoreError('Unavailable', `history cannot be read now: ${errorMessage(error)}`);
    } finally {
      watchdog.stop();
      stream.close();
    }
  }
}

interface EtcdHistoryStep extends HistoryStep {
  readonly commits: readonly RecentCommit[];
}

/** The compaction of a revision removes the version before it, even while the stream reads it. */
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

/** Requests progress periodically and closes a stream that stays silent. */
class Watchdog {
  private heardAtMs: number;
  private timer: Timer;

  constructor(
    private readonly clock: Clock,
    private readonly stream: ChangeStream,
  ) {
    this.heardAtMs = clock.monotonicMs();
    this.timer = this.next();
  }

  heard(): void {
    this.heardAtMs = this.clock.monotonicMs();
  }

  stop(): void {
    this.timer.cancel();
  }

  private next(): Timer {
    return this.clock.setTimer(progressRequestMs, () => {
      if (this.clock.monotonicMs() - this.heardAtMs > readAttemptMs) {
        this.stream.close();
        return;
      }
      this.stream.requestProgress();
      this.timer = this.next();
    });
  }
}
