/**
 * Read barriers: callers of one turn share a round. A round that is lost, refused or overtaken by a change
 * of leadership is asked again under a new context, as often as the callers' deadlines allow.
 *
 * Invariants: a caller joins only a round that starts after it came; a context is never used twice, not
 * even by the process before: an answer to an earlier question would be a stale read.
 */
import type { LoopClock, Timer } from '@orch/component';
import { Deadlines, type Waiting } from '../deadlines.js';
import { READ_RETRY_MS, READ_ROUNDS_LATE_MAX, READ_ROUNDS_MAX, READERS_MAX } from '../limits.js';
import { LogError, type LogIndex } from '../replicated-log.js';

interface Reader extends Waiting {
  resolve(index: LogIndex): void;
  reject(error: LogError): void;
}

interface Round {
  readonly readers: readonly Reader[];
  readonly askedMs: number;
}

/** 2^21 rounds a process life before contexts of two lives could meet by chance. */
const CONTEXTS_OF_A_LIFE = 2 ** 21;

export class ReadRounds {
  readonly #deadlines: Deadlines<Reader>;
  readonly #rounds = new Map<number, Round>();
  /** Asked again, but their answers still count: a network may be slower than the patience with a loss. */
  readonly #late = new Map<number, Round>();
  /** Come since the last round was asked for, or waiting to be asked again. */
  #waiting: Reader[] = [];
  #context: number;
  #retry: Timer | undefined;
  #stopped = false;

  constructor(
    private readonly clock: LoopClock,
    random: () => number,
    /** Asks for `flush` in this turn. */
    private readonly wake: () => void,
    private readonly ask: (context: number) => void,
    private readonly reason: () => string | undefined,
  ) {
    this.#deadlines = new Deadlines(clock);
    this.#context = Math.floor(random() * 2 ** 31) * CONTEXTS_OF_A_LIFE;
  }

  read(deadlineMs: number): Promise<LogIndex> {
    if (this.#stopped) return Promise.reject(stopped());
    if (this.#deadlines.size >= READERS_MAX) {
      return Promise.reject(new LogError('QueueFull', `${this.#deadlines.size} readers wait`));
    }
    return new Promise((resolve, reject) => {
      const expired = () => reject(this.#noQuorum());
      const reader = { deadlineMs, resolve, reject, expired };
      this.#deadlines.add(reader);
      this.#waiting.push(reader);
      this.wake();
    });
  }

  /** Asks for those who have come since. */
  flush(): void {
    if (this.#waiting.length === 0 || this.#rounds.size >= READ_ROUNDS_MAX || this.#retry) return;
    const readers = this.#waiting.filter((reader) => this.#deadlines.has(reader));
    this.#waiting = [];
    if (readers.length === 0) return;
    this.#context += 1;
    this.#rounds.set(this.#context, { readers, askedMs: this.clock.monotonicMs() });
    this.ask(this.#context);
  }

  answered(context: number, index: LogIndex | undefined): void {
    const round = this.#rounds.get(context) ?? this.#late.get(context);
    if (!round) return;
    const isLate = this.#late.delete(context);
    this.#rounds.delete(context);
    if (index === undefined) {
      if (isLate) return;
      for (const reader of round.readers) this.#waiting.push(reader);
      // Nobody leads at the moment: a change of leadership comes first, or this time.
      this.#retry ??= this.clock.setTimer(READ_RETRY_MS, () => this.#resume());
      return;
    }
    for (const reader of round.readers) {
      if (this.#deadlines.remove(reader)) reader.resolve(index);
    }
    if (this.#waiting.length > 0) this.wake();
  }

  /** Whatever is under way may be lost: all is asked again. */
  leadershipChanged(): void {
    this.#askAgain(Number.POSITIVE_INFINITY);
    this.#late.clear();
    this.#resume();
  }

  /** Rounds that have been under way for too long were lost. */
  tick(): void {
    if (this.#rounds.size > 0) this.#askAgain(this.clock.monotonicMs() - READ_RETRY_MS);
  }

  stop(): void {
    this.#stopped = true;
    this.#retry?.cancel();
    this.#rounds.clear();
    this.#late.clear();
    this.#waiting = [];
    for (const reader of this.#deadlines.takeAll()) reader.reject(stopped());
  }

  #askAgain(askedBeforeMs: number): void {
    for (const [context, round] of this.#rounds) {
      if (round.askedMs > askedBeforeMs) continue;
      this.#rounds.delete(context);
      this.#keepLate(context, round);
      for (const reader of round.readers) this.#waiting.push(reader);
    }
    if (this.#waiting.length > 0) this.wake();
  }

  #keepLate(context: number, round: Round): void {
    this.#late.set(context, round);
    const [oldest] = this.#late.keys();
    if (this.#late.size > READ_ROUNDS_LATE_MAX && oldest !== undefined) this.#late.delete(oldest);
  }

  #resume(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    if (this.#waiting.length > 0) this.wake();
  }

  #noQuorum(): LogError {
    return new LogError('NoQuorum', this.reason() ?? 'the leader has not answered in time');
  }
}

function stopped(): LogError {
  return new LogError('Stopped', 'the log is stopped');
}
