/**
 * Hands committed entries to the state, in order, each once, at the state's own pace: one call at a time,
 * in slices that leave others their turn. How far it may stay behind is the core's to bound.
 */
import type { LoopClock } from '@orch/component';
import type { Entry } from '../core/types.js';
import { BATCH_BYTES_MAX, BATCH_ENTRIES_MAX } from '../limits.js';
import type { CommittedEntry, LogHandlers, LogIndex } from '../replicated-log.js';

const NOTHING = Buffer.alloc(0);

export class Deliverer {
  #queue: Entry[] = [];
  /** Of `#queue`, how many are delivered. */
  #taken = 0;
  #running: Promise<void> = Promise.resolve();
  #busy = false;
  #held = false;
  #stopped = false;

  constructor(
    private readonly onCommitted: LogHandlers['onCommitted'],
    private readonly clock: LoopClock,
    private readonly onApplied: (index: LogIndex) => void,
    private readonly onFailed: (what: string, error: unknown) => void,
  ) {}

  add(entries: readonly Entry[]): void {
    for (const entry of entries) this.#queue.push(entry);
    this.#start();
  }

  /** Runs `install` while nothing is delivered; what was waiting up to `index` is part of what it installs. */
  async replacedUpTo(index: LogIndex, install: () => Promise<void>): Promise<void> {
    this.#held = true;
    await this.#running;
    await install();
    this.#queue = this.#queue.slice(this.#taken).filter((entry) => entry.index > index);
    this.#taken = 0;
    this.#held = false;
    this.#start();
  }

  /** Resolves when the state is done with what it was given; it gets no more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#queue = [];
    this.#taken = 0;
    await this.#running;
  }

  #start(): void {
    if (this.#busy || this.#held || this.#stopped || this.#queue.length === 0) return;
    this.#busy = true;
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const slice = this.#takeSlice();
        const held = this.onCommitted(slice);
        if (held) await held;
        if (this.#stopped) break;
        this.onApplied(slice.at(-1)!.index);
        if (this.#queue.length === 0 || this.#held) break;
        await this.clock.nextTurn();
        if (this.#queue.length === 0 || this.#held) break;
      }
    } catch (error) {
      this.#stopped = true;
      this.onFailed('applying committed entries failed', error);
    }
    this.#busy = false;
  }

  #takeSlice(): CommittedEntry[] {
    const slice: CommittedEntry[] = [];
    let byteCount = 0;
    while (this.#taken < this.#queue.length && slice.length < BATCH_ENTRIES_MAX) {
      const { index, kind, data } = this.#queue[this.#taken]!;
      if (slice.length > 0 && byteCount + data.length > BATCH_BYTES_MAX) break;
      this.#taken += 1;
      byteCount += data.length;
      slice.push({ index, command: kind === 'command' ? data : NOTHING });
    }
    if (this.#taken === this.#queue.length) {
      this.#queue = [];
      this.#taken = 0;
    }
    return slice;
  }
}
