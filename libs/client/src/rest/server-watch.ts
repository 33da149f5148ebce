/**
 * Notices a server that has fallen silent while something is open on it: a process that was suspended or
 * a machine that is gone sends neither answers nor an end. Anything heard counts as life; a server that
 * has been quiet is asked. One that says repeatedly that it is not ready is reported too: its watches may
 * stand still. Holds the timing only; asking and what follows are the owner's.
 */
import type { Clock, Timer } from '@orch/component';
import { limits } from '../limits.js';

/** What a server says of itself: `none` when it did not answer in time. */
export type Readiness = 'ready' | 'unready' | 'none';

export interface ServerWatchParts {
  readonly clock: Clock;
  readonly random: () => number;
  /** Never rejects. */
  readonly ask: () => Promise<Readiness>;
  readonly onSilent: () => void;
  readonly onUnready: () => Promise<void>;
}

/** A single answer that is late may be our own fault: this process may have been suspended. */
const unansweredCountMax = 2;
/** A change of the leader passes before the second answer. */
const unreadyCountMax = 2;

export class ServerWatch {
  private openCount = 0;
  private heardMs = 0;
  private timer: Timer | undefined;
  private isAsking = false;
  private isClosed = false;
  private unansweredCount = 0;
  private unreadyCount = 0;

  constructor(private readonly parts: ServerWatchParts) {}

  /** Something is open until the returned function is called. */
  opened(): () => void {
    this.openCount++;
    if (!this.timer && !this.isAsking && !this.isClosed) {
      this.heard();
      this.arm(limits.quietMsMax);
    }
    let isOpen = true;
    return () => {
      if (isOpen) this.openCount--;
      isOpen = false;
    };
  }

  /** The server has sent something. */
  heard(): void {
    this.heardMs = this.parts.clock.monotonicMs();
  }

  close(): void {
    this.isClosed = true;
    this.timer?.cancel();
  }

  private arm(delayMs: number): void {
    if (this.isClosed) return;
    // Spread downwards, so that the clients of one server do not ask together.
    const spreadMs = delayMs * (1 - 0.25 * this.parts.random());
    this.timer = this.parts.clock.setTimer(spreadMs, () => {
      this.timer = undefined;
      if (this.openCount === 0 || this.isClosed) return;
      const quietMs = this.parts.clock.monotonicMs() - this.heardMs;
      if (quietMs < limits.quietMsMax / 2) this.arm(limits.quietMsMax - quietMs);
      else void this.ask();
    });
  }

  private async ask(): Promise<void> {
    this.isAsking = true;
    const askedMs = this.parts.clock.monotonicMs();
    const readiness = await this.parts.ask();
    this.isAsking = false;
    if (this.isClosed) return;
    if (readiness === 'none' && this.heardMs <= askedMs) {
      if (++this.unansweredCount < unansweredCountMax) return this.ask();
      this.unansweredCount = 0;
      this.parts.onSilent();
    } else {
      this.heard();
      this.unansweredCount = 0;
      this.unreadyCount = readiness === 'unready' ? this.unreadyCount + 1 : 0;
      if (this.unreadyCount >= unreadyCountMax) {
        this.unreadyCount = 0;
        await this.parts.onUnready();
      }
    }
    this.arm(limits.quietMsMax);
  }
}
