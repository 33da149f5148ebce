/**
 * This replica's view of a prefix: read once, updated by a watch, and read again when the watch's
 * revision is compacted, as after the installation of a snapshot. Requires no quorum, but a state:
 * it retries until there is one.
 */
import { Backoff, type Logger, sleep } from '@orch/component';
import { type Entry, StoreError, type StoreReader, type WatchEvent } from '@orch/store';

export interface PrefixObserver {
  /** Everything there is. */
  replaced(entries: readonly Entry[]): void;
  /** The changes since then, in order. */
  changed(events: readonly WatchEvent[]): void;
}

export interface FollowedPrefixDependencies {
  readonly store: StoreReader;
  readonly prefix: string;
  /** A description of the contents, for the log. */
  readonly name: string;
  readonly observer: PrefixObserver;
  readonly logger: Logger;
}

const readTimeoutMs = 5_000;
const retry = { initialMs: 100, maxMs: 5_000, factor: 2, jitter: 0.5, random: Math.random };

export class FollowedPrefix {
  private stopWatch: () => void = () => undefined;
  private stopped = false;

  constructor(private readonly dependencies: FollowedPrefixDependencies) {}

  /** Follows until `stop`, or until the store is stopped. */
  start(): void {
    void this.follow();
  }

  stop(): void {
    this.stopped = true;
    this.stopWatch();
  }

  private async follow(): Promise<void> {
    const { logger, name } = this.dependencies;
    const backoff = new Backoff(retry);
    while (!this.stopped) {
      try {
        await this.readAndWatch();
        return;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (error.code === 'Stopped') return;
        logger.warn({ err: error, name }, 'cannot read the followed prefix yet, retrying');
      }
      await sleep(backoff.nextMs());
    }
  }

  private async readAndWatch(): Promise<void> {
    const { store, prefix, observer } = this.dependencies;
    const { entries, revision } = await store.list(prefix, {
      consistency: { kind: 'any' },
      timeoutMs: readTimeoutMs,
    });
    if (this.stopped) return;
    observer.replaced(entries);
    const handle = store.watch({
      prefix,
      afterRevision: revision,
      onEvents: (events) => observer.changed(events),
      onEnd: (error) => this.restart(error),
    });
    this.stopWatch = () => handle.close();
  }

  private restart(ended: StoreError): void {
    if (this.stopped || ended.code === 'Stopped') return;
    const { logger, name } = this.dependencies;
    logger.info({ err: ended, name }, 'reading the followed prefix again');
    this.start();
  }
}
