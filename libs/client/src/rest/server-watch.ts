/**
 * Detects a server that hangs while requests or streams are open on it: a suspended process or a
 * machine that disappeared sends neither responses nor a close. Any byte received shows that the
 * server is alive; a quiet server is probed, unless it has reported to another client of this
 * process that it is ready. A server that repeatedly reports that it is not ready is reported too,
 * because its watches may stall. Holds the timing only; the owner probes and reacts.
 */
import type { Clock, Timer } from '@orch/component';
import { limits } from '../limits.js';
import type { SharedReadiness } from './shared-readiness.js';

/** The result of a readiness probe; `none` if the server did not respond in time. */
export type Readiness = 'ready' | 'unready' | 'none';

export interface ServerWatchDependencies {
  readonly clock: Clock;
  readonly random: () => number;
  readonly shared: Pick<SharedReadiness, 'lastMs' | 'reported'>;
  /** Never rejects. */
  readonly probe: () => Promise<Readiness>;
  readonly onHung: () => void;
  readonly onUnready: () => Promise<void>;
}

/** One late response proves nothing: this process may have been suspended. */
const unansweredCountMax = 2;
/** A leader election of the servers is over before the second probe. */
const unreadyCountMax = 2;

export class ServerWatch {
  private openCount = 0;
  private heardMs = Number.NEGATIVE_INFINITY;
  private quietSinceMs = 0;
  private timer: Timer | undefined;
  private isProbing = false;
  private isClosed = false;
  private unansweredCount = 0;
  private unreadyCount = 0;

  constructor(private readonly dependencies: ServerWatchDependencies) {}

  /** Records an open request or stream. @returns the function that ends it. */
  opened(): () => void {
    this.openCount++;
    if (!this.timer && !this.isProbing && !this.isClosed) {
      this.quietSinceMs = this.dependencies.clock.monotonicMs();
      this.arm(limits.quietMsMax);
    }
    let isOpen = true;
    return () => {
      if (isOpen) this.openCount--;
      isOpen = false;
    };
  }

  /** Records that the server has sent something. */
  heard(): void {
    this.heardMs = this.dependencies.clock.monotonicMs();
    this.quietSinceMs = this.heardMs;
  }

  /** Whether the server has sent something since this moment. */
  heardSince(sinceMs: number): boolean {
    return this.heardMs > sinceMs;
  }

  close(): void {
    this.isClosed = true;
    this.timer?.cancel();
  }

  private arm(delayMs: number): void {
    if (this.isClosed) return;
    const { clock, random, shared } = this.dependencies;
    // Spread downwards, so that the clients of one server do not probe it together.
    const spreadMs = delayMs * (1 - 0.25 * random());
    this.timer = clock.setTimer(spreadMs, () => {
      this.timer = undefined;
      if (this.openCount === 0 || this.isClosed) return;
      const quietMs = clock.monotonicMs() - Math.max(this.quietSinceMs, shared.lastMs);
      if (quietMs < limits.quietMsMax / 2) this.arm(limits.quietMsMax - quietMs);
      else void this.probe();
    });
  }

  private async probe(): Promise<void> {
    const { clock, shared, probe, onHung, onUnready } = this.dependencies;
    this.isProbing = true;
    const startMs = clock.monotonicMs();
    const readiness = await probe();
    this.isProbing = false;
    if (this.isClosed) return;
    if (readiness === 'ready') shared.reported();
    if (readiness === 'none' && !this.heardSince(startMs)) {
      if (++this.unansweredCount < unansweredCountMax) return this.probe();
      this.unansweredCount = 0;
      onHung();
    } else {
      this.heard();
      this.unansweredCount = 0;
      this.unreadyCount = readiness === 'unready' ? this.unreadyCount + 1 : 0;
      if (this.unreadyCount >= unreadyCountMax) {
        this.unreadyCount = 0;
        await onUnready();
      }
    }
    this.arm(limits.quietMsMax);
  }
}
