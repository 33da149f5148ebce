/**
 * Read barriers: callers of one turn share a round. A round that is lost, fails or is overtaken by
 * a change of leadership is repeated with a new context, as often as the callers' deadlines allow.
 *
 * Invariants: a caller joins only a round that starts after its arrival; a context is never used
 * twice, not even by the previous process: the response to an earlier round would be a stale read.
 */
import type { LoopClock, Timer } from '@orch/component';
import type { LogIndex } from '../../core/types.js';
import { Deadlines, type Waiting } from '../../deadlines.js';
import { lateReadRoundsMax, readersMax, readRetryMs, readRoundsMax } from '../../limits.js';
import { LogError } from '../../replicated-log.js';

interface Reader extends Waiting {
  resolve(index: LogIndex): void;
  reject(error: LogError): void;
}

interface Round {
  readonly readers: readonly Reader[];
  readonly askedMs: number;
}

/** 2^21 rounds a process life before contexts of two lives could meet by chance. */
const contextsPerProcess = 2 ** 21;

export class ReadBarriers {
  private readonly deadlines: Deadlines<Reader>;
  private readonly rounds = new Map<number, Round>();
  /** Repeated, but their responses still count: a network may be slower than the retry interval. */
  private readonly late = new Map<number, Round>();
  /** Arrived since the last round, or waiting for a repeated one. */
  private waiting: Reader[] = [];
  private context: number;
  private retry: Timer | undefined;
  private stopped = false;

  constructor(
    private readonly clock: LoopClock,
    random: () => number,
    /** Requests `flush` in this turn. */
    private readonly wake: () => void,
    private readonly ask: (context: number) => void,
    private readonly reason: () => string | undefined,
  ) {
    this.deadlines = new Deadlines(clock);
    this.context = Math.floor(random() * 2 ** 31) * contextsPerProcess;
  }

  /** Whether a round is in flight, which may have to be repeated. */
  get isBusy(): boolean {
    return this.rounds.size > 0;
  }

  read(deadlineMs: number): Promise<LogIndex> {
    if (this.stopped) return Promise.reject(stopped());
    if (this.deadlines.size >= readersMax) {
      return Promise.reject(new LogError('QueueFull', `${this.deadlines.size} readers wait`));
    }
    return new Promise((resolve, reject) => {
      const expired = () => reject(this.noQuorum());
      const reader = { deadlineMs, resolve, reject, expired };
      this.deadlines.add(reader);
      this.waiting.push(reader);
      this.wake();
    });
  }

  /** Starts a round for the callers that have arrived since. */
  flush(): void {
    if (this.waiting.length === 0 || this.rounds.size >= readRoundsMax || this.retry) return;
    const readers = this.waiting.filter((reader) => this.deadlines.has(reader));
    this.waiting = [];
    if (readers.length === 0) return;
    this.context += 1;
    this.rounds.set(this.context, { readers, askedMs: this.clock.monotonicMs() });
    this.ask(this.context);
  }

  answered(context: number, index: LogIndex | undefined): void {
    const round = this.rounds.get(context) ?? this.late.get(context);
    if (!round) return;
    const isLate = this.late.delete(context);
    this.rounds.delete(context);
    if (index === undefined) {
      if (isLate) return;
      for (const reader of round.readers) this.waiting.push(reader);
      // No leader is known: retry after a change of leadership or this interval.
      this.retry ??= this.clock.setTimer(readRetryMs, () => this.resume());
      return;
    }
    for (const reader of round.readers) {
      if (this.deadlines.remove(reader)) reader.resolve(index);
    }
    if (this.waiting.length > 0) this.wake();
  }

  /** Rounds in flight may be lost: repeats all of them. */
  leadershipChanged(): void {
    this.askAgain(Number.POSITIVE_INFINITY);
    this.late.clear();
    this.resume();
  }

  /** Rounds in flight for too long were lost. */
  tick(): void {
    if (this.rounds.size > 0) this.askAgain(this.clock.monotonicMs() - readRetryMs);
  }

  stop(): void {
    this.stopped = true;
    this.retry?.cancel();
    this.rounds.clear();
    this.late.clear();
    this.waiting = [];
    for (const reader of this.deadlines.takeAll()) reader.reject(stopped());
  }

  private askAgain(askedBeforeMs: number): void {
    for (const [context, round] of this.rounds) {
      if (round.askedMs > askedBeforeMs) continue;
      this.rounds.delete(context);
      this.keepLate(context, round);
      for (const reader of round.readers) this.waiting.push(reader);
    }
    if (this.waiting.length > 0) this.wake();
  }

  private keepLate(context: number, round: Round): void {
    this.late.set(context, round);
    const [oldest] = this.late.keys();
    if (this.late.size > lateReadRoundsMax && oldest !== undefined) this.late.delete(oldest);
  }

  private resume(): void {
    this.retry?.cancel();
    this.retry = undefined;
    if (this.waiting.length > 0) this.wake();
  }

  private noQuorum(): LogError {
    return new LogError('NoQuorum', this.reason() ?? 'the leader has not responded in time');
  }
}

function stopped(): LogError {
  return new LogError('Stopped', 'the log is stopped');
}
