/**
 * The lock object of a component that runs without election. It names the process and the URL at
 * which it serves, so that clients find it and the API server reports it as healthy, and is renewed
 * rarely, at the common moments of the process.
 */
import { formatMicroTime } from '@orch/apimachinery';
import {
  alignedDelayMs,
  Backoff,
  type Clock,
  type Logger,
  sleep,
  systemClock,
} from '@orch/component';
import type { ElectionLock, ObservedRecord } from './election-lock.js';

export interface AnnouncedHolderOptions {
  readonly lock: ElectionLock;
  readonly identity: string;
  readonly logger: Logger;
  readonly clock?: Clock;
}

const callTimeoutMs = 5_000;
/** Higher: the end of a process is noticed later. Lower: more writes at rest. */
const renewMs = 20_000;
/** Two renewals may fail. */
const leaseDurationSeconds = (3 * renewMs) / 1_000;

export class AnnouncedHolder {
  private readonly clock: Clock;
  private readonly stopping = new AbortController();
  private readonly backoff = new Backoff({
    ...{ initialMs: 500, maxMs: renewMs, factor: 2, jitter: 0.5, random: Math.random },
  });
  private announcing: Promise<void> | undefined;
  /** What this process wrote last, unless an attempt failed since. */
  private written: ObservedRecord | undefined;

  constructor(private readonly options: AnnouncedHolderOptions) {
    this.clock = options.clock ?? systemClock;
  }

  /** Writes the record and renews it. Never throws and never waits. */
  start(): void {
    this.announcing ??= this.announce();
  }

  /** Removes the holder from the record, unless it is another one; a failure is logged. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the component is stopped'));
    await this.announcing;
    try {
      await this.release();
    } catch (error) {
      this.options.logger.warn({ err: error }, 'the lock object still names this process');
    }
  }

  private async announce(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const pauseMs = await this.attempt(signal);
      try {
        await sleep(pauseMs, signal, this.clock);
      } catch (reason) {
        if (!signal.aborted) throw reason;
      }
    }
  }

  /** @returns the pause before the next attempt. */
  private async attempt(signal: AbortSignal): Promise<number> {
    try {
      await this.write(signal);
      this.backoff.reset();
      return alignedDelayMs(this.clock, renewMs);
    } catch (error) {
      if (!signal.aborted) {
        this.options.logger.warn({ err: error }, 'the lock object cannot be written');
      }
      return this.backoff.nextMs();
    }
  }

  private async write(signal: AbortSignal): Promise<void> {
    const { lock, identity } = this.options;
    const call = { timeoutMs: callTimeoutMs, signal };
    const current = this.written ?? (await lock.read(call));
    this.written = undefined;
    const isOurs = current?.holderIdentity === identity;
    const renewTime = formatMicroTime(this.clock.nowMs());
    const acquireTime = (isOurs && current.acquireTime) || renewTime;
    const transitionCount = current ? current.transitionCount + (isOurs ? 0 : 1) : 0;
    const times = { leaseDurationSeconds, acquireTime, renewTime };
    const record = { holderIdentity: identity, ...times, transitionCount };
    this.written = await lock.write(record, call);
  }

  private async release(): Promise<void> {
    const { lock, identity } = this.options;
    const call = { timeoutMs: callTimeoutMs };
    const current = await lock.read(call);
    if (current?.holderIdentity !== identity) return;
    const { renewal: _, ...record } = current;
    await lock.write({ ...record, holderIdentity: '', leaseDurationSeconds: 1 }, call);
  }
}
