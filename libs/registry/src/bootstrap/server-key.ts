/**
 * The key that shows the other servers that this one runs. It has a time to live and is renewed
 * until the server stops. The servers renew together: an event of another's renewal starts that of
 * this server if half of the interval is over, so that servers at rest wake and sync once for all
 * keys. A key that expired although its server runs, after a stall, is written at its deletion.
 */
import type { ServerAddress } from '@orch/api';
import { StatusError } from '@orch/apimachinery';
import type { Clock, Logger, Timer } from '@orch/component';
import { StoreError, type VersionedStore, type WatchEvent, type WatchHandle } from '@orch/store';
import { serverKeyLifeMs, serverKeyRenewMs, serverKeyRetryMs } from '../limits.js';

/** The keys of all servers. */
export const serverKeyPrefix = 'servers/addresses/';

const writeTimeoutMs = 5_000;

export interface ServerKeyDependencies {
  readonly store: Pick<VersionedStore, 'commit' | 'watch' | 'revision'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'setTimer'>;
  readonly logger: Logger;
}

export class ServerKey {
  private readonly key: string;
  private readonly bytes: Buffer;
  private handle: WatchHandle | undefined;
  private timer: Timer | undefined;
  /** Set while a renewal runs. */
  private renewing: Promise<void> | undefined;
  private renewedAtMs = 0;
  private stopped = false;

  constructor(
    private readonly dependencies: ServerKeyDependencies,
    own: ServerAddress,
  ) {
    this.key = `${serverKeyPrefix}${own.ip}:${own.port}`;
    this.bytes = Buffer.from(JSON.stringify(own));
  }

  /** Writes the key and renews it from now on. Rejects when it cannot be written. */
  async start(): Promise<void> {
    await this.write();
    this.watch();
    this.schedule(serverKeyRenewMs);
  }

  /** Ends the renewals. The key remains until it is deleted or expires. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.timer?.cancel();
    this.unwatch();
    await this.renewing;
  }

  async delete(timeoutMs: number): Promise<void> {
    await this.dependencies.store.commit([{ kind: 'delete', key: this.key }], timeoutMs);
  }

  private async write(): Promise<void> {
    const { store, clock } = this.dependencies;
    const { key, bytes } = this;
    await store.commit(
      [{ kind: 'put', key, bytes, timeToLiveMs: serverKeyLifeMs }],
      writeTimeoutMs,
    );
    this.renewedAtMs = clock.monotonicMs();
  }

  private watch(): void {
    if (this.handle) return;
    const { store } = this.dependencies;
    this.handle = store.watch({
      prefix: serverKeyPrefix,
      afterRevision: store.revision(),
      onEvents: (events) => this.changed(events),
      // The next renewal watches again.
      onEnd: () => this.unwatch(),
    });
  }

  private unwatch(): void {
    this.handle?.close();
    this.handle = undefined;
  }

  /** Called at apply: the renewal begins in a turn of its own. */
  private changed(events: readonly WatchEvent[]): void {
    if (this.renewing || this.stopped) return;
    const ageMs = this.dependencies.clock.monotonicMs() - this.renewedAtMs;
    const startsRenewal = ({ key, kind, previous }: WatchEvent) =>
      key === this.key
        ? kind === 'delete'
        : kind === 'put' && previous !== undefined && ageMs >= serverKeyRenewMs / 2;
    if (events.some(startsRenewal)) this.schedule(0);
  }

  private schedule(delayMs: number): void {
    this.timer?.cancel();
    this.timer = this.dependencies.clock.setTimer(delayMs, () => {
      this.renewing = this.renew().then((nextMs) => {
        this.renewing = undefined;
        if (!this.stopped) this.schedule(nextMs);
      });
    });
  }

  /** Returns the delay until the next renewal. */
  private async renew(): Promise<number> {
    try {
      this.watch();
      await this.write();
      return serverKeyRenewMs;
    } catch (error) {
      if (!(error instanceof StoreError) && !(error instanceof StatusError)) throw error;
      this.dependencies.logger.warn({ err: error }, 'the key of this server is not renewed');
      return serverKeyRetryMs;
    }
  }
}
