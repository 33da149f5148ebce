/** Loads the present state and the recent commits from etcd into memory. */
import type { Clock } from '@orch/component';
import { maxRevision, type Revision, StoreError } from '../../versioned-store.js';
import { startTimeoutMs } from '../limits.js';
import type { EtcdReader } from '../requests/etcd-reader.js';
import type { CompactedRevision } from './compacted-revision.js';
import type { History } from './history.js';
import type { Mirror } from './mirror.js';
import type { RecentCommits } from './recent-commits.js';

export class MirrorLoader {
  constructor(
    private readonly reader: EtcdReader,
    private readonly history: History,
    private readonly mirror: Mirror,
    private readonly recent: RecentCommits,
    private readonly compacted: CompactedRevision,
    private readonly clock: Clock,
    private readonly recentEventsMax: number,
  ) {}

  /** Loads the present state, as of one revision. */
  async load(): Promise<void> {
    const everything = { prefix: '', startAfter: undefined, limit: Number.POSITIVE_INFINITY };
    const { entries, revision } = await this.reader.list(everything, undefined, startTimeoutMs);
    await this.compacted.learn(revision, startTimeoutMs);
    this.mirror.reset(entries, revision);
  }

  /** Loads the recent commits, for clients that resume their watches. */
  async recall(): Promise<void> {
    const { revision } = this.mirror;
    const from = maxRevision(this.compacted.value, (revision - this.recentEventsMax) as Revision);
    if (from >= revision) return;
    const giveUpMs = this.clock.monotonicMs() + startTimeoutMs;
    for (;;) {
      this.recent.reset(from);
      try {
        for await (const { commits } of this.history.stored(from, revision)) {
          for (const commit of commits) this.recent.append(commit);
        }
        return;
      } catch (error) {
        const again = error instanceof StoreError && error.code === 'Unavailable';
        if (!again || this.clock.monotonicMs() > giveUpMs) throw error;
      }
    }
  }
}
