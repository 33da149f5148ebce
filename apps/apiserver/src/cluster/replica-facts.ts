/**
 * The facts that this replica reports to the others besides the log: process, version, revision,
 * hash of the applied changes, and the hash of all content at the revision of the last check.
 */
import { type Clock, type Logger, orchVersion, type Timer } from '@orch/component';
import type { ReplicatedLog } from '@orch/raft';
import { type ReplicatedStore, type Revision, StoreError, type WatchHandle } from '@orch/store';

/** A commit below this prefix makes every replica hash its content at that revision. */
export const checkPrefix = 'cluster/checks/';

/** From a change to its report. Higher: older facts. Lower: more messages under load. */
const factsIntervalMs = 250;
const hashTimeoutMs = 60_000;

export interface ReplicaFactsDependencies {
  readonly store: Pick<
    ReplicatedStore,
    'status' | 'stateHash' | 'contentHash' | 'revision' | 'watch'
  >;
  readonly log: Pick<ReplicatedLog, 'setFacts'>;
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly logger: Logger;
}

export class ReplicaFacts {
  private timer: Timer | undefined;
  private watch: WatchHandle | undefined;
  private checked: Readonly<Record<string, string | number>> = {};
  private stopped = false;

  constructor(private readonly dependencies: ReplicaFactsDependencies) {}

  start(): void {
    this.follow();
    this.report();
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.watch?.close();
  }

  /** The state has changed: reports soon, once for all changes until then. */
  changed(): void {
    if (this.timer || this.stopped) return;
    this.timer = this.dependencies.clock.setTimer(factsIntervalMs, () => {
      this.timer = undefined;
      this.report();
    });
  }

  private report(): void {
    const { store, log } = this.dependencies;
    const { ready, revision, keyCount } = store.status();
    log.setFacts({
      pid: process.pid,
      version: orchVersion,
      revision,
      keyCount,
      ...(ready && this.stateHash()),
      ...this.checked,
    });
    // No entry is applied when the replica becomes ready.
    if (!ready) this.changed();
  }

  private stateHash(): Record<string, string | number> {
    const { hash, appliedIndex } = this.dependencies.store.stateHash();
    return { stateHash: hash, stateHashIndex: appliedIndex };
  }

  /** Watches for new checks. */
  private follow(): void {
    if (this.stopped) return;
    const { store } = this.dependencies;
    try {
      this.watch = store.watch({
        prefix: checkPrefix,
        afterRevision: store.revision(),
        onEvents: (_events, revision) => void this.check(revision),
        onEnd: () => this.followLater(),
      });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.followLater();
    }
  }

  private followLater(): void {
    this.dependencies.clock.setTimer(factsIntervalMs, () => this.follow());
  }

  private async check(revision: Revision): Promise<void> {
    const { store, logger } = this.dependencies;
    try {
      const { hash } = await store.contentHash(revision, hashTimeoutMs);
      this.checked = { checkedRevision: revision, contentHash: hash };
      if (!this.stopped) this.report();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      logger.warn({ err: error, revision }, 'content could not be checked');
    }
  }
}
