/**
 * This replica's view of everything under a prefix: read once, then kept up by a watch, and read anew
 * when history has gone past the watch, as when a snapshot was installed. Needs no quorum, but a state to
 * read: until there is one it tries again.
 */
import { Backoff, type Logger, sleep } from '@orch/component';
import { type Entry, StoreError, type VersionedStore, type WatchEvent } from '@orch/store';

export interface PrefixObserver {
  /** Everything there is. */
  replaced(entries: readonly Entry[]): void;
  /** What has happened since, in order. */
  changed(events: readonly WatchEvent[]): void;
}

export interface FollowedPrefixSettings {
  readonly store: VersionedStore;
  readonly prefix: string;
  /** What is there, for the log. */
  readonly name: string;
  readonly observer: PrefixObserver;
  readonly logger: Logger;
}

const readTimeoutMs = 5_000;
const retry = { initialMs: 100, maxMs: 5_000, factor: 2, jitter: 0.5, random: Math.random };

export class FollowedPrefix {
  private stopWatch: () => void = () => undefined;
  private stopped = false;

  constructor(private readonly settings: FollowedPrefixSettings) {}

  /** Follows until `stop`. */
  start(): void {
    void this.follow();
  }

  stop(): void {
    this.stopped = true;
    this.stopWatch();
  }

  private async follow(): Promise<void> {
    const { logger, name } = this.settings;
    const backoff = new Backoff(retry);
    while (!this.stopped) {
      try {
        await this.readAndWatch();
        return;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        logger.warn({ err: error, name }, 'what is followed cannot be read yet');
      }
      await sleep(backoff.nextMs());
    }
  }

  private async readAndWatch(): Promise<void> {
    const { store, prefix, observer } = this.settings;
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
    const { logger, name } = this.settings;
    logger.info({ err: ended, name }, 'what is followed is read anew');
    this.start();
  }
}
