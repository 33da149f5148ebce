/** Fills memory from etcd: what there is now, and what happened last. */
import type { Clock } from '@orch/component';
import { StoreError } from '../versioned-store.js';
import type { CompactedRevision } from './compacted-revision.js';
import type { EtcdReader } from './etcd-reader.js';
import type { History } from './history.js';
import { START_TIMEOUT_MS } from './limits.js';
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

  /** Everything there is, as of one revision. */
  async load(): Promise<void> {
    const everything = { prefix: '', startAfter: undefined, limit: Number.POSITIVE_INFINITY };
    const { entries, revision } = await this.reader.list(everything, undefined, START_TIMEOUT_MS);
    await this.compacted.learn(revision, START_TIMEOUT_MS);
    this.mirror.reset(entries, revision);
  }

  /** Takes what happened last into memory, for clients that resume their watches. */
  async recall(): Promise<void> {
    const { revision } = this.mirror;
    const from = Math.max(this.compacted.value, revision - this.recentEventsMax);
    if (from >= revision) return;
    const giveUpMs = this.clock.monotonicMs() + START_TIMEOUT_MS;
    for (;;) {
      this.recent.reset(from);
      try {
        for await (const { commits } of this.history.between(from, revision)) {
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
