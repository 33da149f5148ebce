/**
 * The facts that this replica reports to the others besides the log: process, version, revision,
 * hash of the applied changes, and the hash of all content at the revision of the last check.
 */
import { type Logger, orchVersion, systemClock, type Timer } from '@orch/component';
import type { ReplicatedLog } from '@orch/raft';
import { type ReplicatedStore, type Revision, StoreError, type WatchHandle } from '@orch/store';

/** A commit below this prefix makes every replica hash its content at that revision. */
export const checkPrefix = 'cluster/checks/';

/** Limit on the age of the reported facts. */
const factsIntervalMs = 250;
const hashTimeoutMs = 60_000;

export class ReplicaFacts {
  private timer: Timer | undefined;
  private watch: WatchHandle | undefined;
  private reported = '';
  private checked: Readonly<Record<string, string | number>> = {};
  private stopped = false;

  constructor(
    private readonly store: ReplicatedStore,
    private readonly log: ReplicatedLog,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.follow();
    this.report();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.watch?.close();
  }

  private report(): void {
    const { revision, keyCount } = this.store.status();
    const facts = {
      pid: process.pid,
      version: orchVersion,
      revision,
      keyCount,
      ...this.stateHash(),
      ...this.checked,
    };
    const text = JSON.stringify(facts);
    if (text !== this.reported) {
      this.reported = text;
      this.log.setFacts(facts);
    }
    this.timer = systemClock.setTimer(factsIntervalMs, () => this.report());
  }

  /** Returns an empty object while the replica has no state. */
  private stateHash(): Record<string, string | number> {
    if (!this.store.status().ready) return {};
    const { hash, appliedIndex } = this.store.stateHash();
    return { stateHash: hash, stateHashIndex: appliedIndex };
  }

  /** Watches for new checks. */
  private follow(): void {
    if (this.stopped) return;
    try {
      this.watch = this.store.watch({
        prefix: checkPrefix,
        afterRevision: this.store.revision(),
        onEvents: (_events, revision) => void this.check(revision),
        onEnd: () => this.followLater(),
      });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.followLater();
    }
  }

  private followLater(): void {
    systemClock.setTimer(factsIntervalMs, () => this.follow());
  }

  private async check(revision: Revision): Promise<void> {
    try {
      const { hash } = await this.store.contentHash(revision, hashTimeoutMs);
      this.checked = { checkedRevision: revision, contentHash: hash };
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.logger.warn({ err: error, revision }, 'content could not be checked');
    }
  }
}
