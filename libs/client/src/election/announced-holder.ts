/**
 * The lock object of a component that runs without election, with the URL at which it serves: it is
 * written once and not renewed, so that clients find the process and nothing is written at rest.
 */
import { formatMicroTime } from '@orch/apimachinery';
import { type Clock, type Logger, retry, systemClock } from '@orch/component';
import type { ElectionLock } from './election-lock.js';

export interface AnnouncedHolderOptions {
  readonly lock: ElectionLock;
  readonly identity: string;
  readonly logger: Logger;
  readonly clock?: Clock;
}

const callTimeoutMs = 5_000;
const backoff = {
  ...{ attemptCountMax: Number.POSITIVE_INFINITY, initialMs: 500, maxMs: 30_000 },
  ...{ factor: 2, jitter: 0.5, random: Math.random },
};
/** A candidate of an election need not wait for a holder that does not take part. */
const leaseDurationSeconds = 1;

export class AnnouncedHolder {
  private readonly stopping = new AbortController();
  private announcing: Promise<void> | undefined;
  private isAnnounced = false;

  constructor(private readonly options: AnnouncedHolderOptions) {}

  /** Writes the record until it succeeds. Never throws and never waits. */
  start(): void {
    this.announcing ??= this.announce();
  }

  /** Removes the holder from the record; a failure is logged. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error('the component is stopped'));
    await this.announcing;
    if (!this.isAnnounced) return;
    try {
      await this.write('');
    } catch (error) {
      this.options.logger.warn({ err: error }, 'the lock object still names this process');
    }
  }

  private async announce(): Promise<void> {
    const { clock = systemClock, identity, logger } = this.options;
    const { signal } = this.stopping;
    const attempt = async () => {
      try {
        await this.write(identity, signal);
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'the lock object cannot be written');
        throw error;
      }
    };
    try {
      await retry(attempt, { ...backoff, signal, clock });
      this.isAnnounced = true;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  private async write(holderIdentity: string, signal?: AbortSignal): Promise<void> {
    const { lock, identity, clock = systemClock } = this.options;
    const call = { timeoutMs: callTimeoutMs, ...(signal && { signal }) };
    const current = await lock.read(call);
    // Another process has been started since: its record stays.
    if (holderIdentity === '' && current?.holderIdentity !== identity) return;
    const now = formatMicroTime(clock.nowMs());
    const transitionCount = (current?.transitionCount ?? -1) + (holderIdentity === '' ? 0 : 1);
    const times = { acquireTime: now, renewTime: now };
    await lock.write({ holderIdentity, leaseDurationSeconds, ...times, transitionCount }, call);
  }
}
