/**
 * Hands committed entries to the state, in order, each once, at the state's own pace: one call at a
 * time, in slices that leave others their turn. How far it may stay behind is the core's to bound.
 */
import type { LoopClock } from '@orch/component';
import type { Entry, LogIndex } from '../core/types.js';
import { batchBytesMax, batchEntriesMax } from '../limits.js';
import type { CommittedEntry, LogHandlers } from '../replicated-log.js';

const emptyCommand = Buffer.alloc(0);

export class Deliverer {
  private queue: Entry[] = [];
  /** Of `#queue`, how many are delivered. */
  private taken = 0;
  private running: Promise<void> = Promise.resolve();
  private busy = false;
  private held = false;
  private stopped = false;

  constructor(
    private readonly onCommitted: LogHandlers['onCommitted'],
    private readonly clock: LoopClock,
    private readonly onApplied: (index: LogIndex) => void,
    private readonly onFailed: (what: string, error: unknown) => void,
  ) {}

  add(entries: readonly Entry[]): void {
    for (const entry of entries) this.queue.push(entry);
    this.start();
  }

  /**
   * Runs `install` while no delivery is in progress; waiting entries up to `index` are part of the
   * snapshot.
   */
  async replacedUpTo(index: LogIndex, install: () => Promise<void>): Promise<void> {
    this.held = true;
    await this.running;
    await install();
    this.queue = this.queue.slice(this.taken).filter((entry) => entry.index > index);
    this.taken = 0;
    this.held = false;
    this.start();
  }

  /** Stops deliveries. Resolves when the state has finished the current one. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.queue = [];
    this.taken = 0;
    await this.running;
  }

  private start(): void {
    if (this.busy || this.held || this.stopped || this.queue.length === 0) return;
    this.busy = true;
    this.running = this.run();
  }

  private async run(): Promise<void> {
    try {
      for (;;) {
        const slice = this.takeSlice();
        const held = this.onCommitted(slice);
        if (held) await held;
        if (this.stopped) break;
        this.onApplied(slice.at(-1)!.index);
        if (this.queue.length === 0 || this.held) break;
        await this.clock.nextTurn();
        if (this.queue.length === 0 || this.held) break;
      }
    } catch (error) {
      this.stopped = true;
      this.onFailed('applying committed entries failed', error);
    }
    this.busy = false;
  }

  private takeSlice(): CommittedEntry[] {
    const slice: CommittedEntry[] = [];
    let byteCount = 0;
    while (this.taken < this.queue.length && slice.length < batchEntriesMax) {
      const { index, kind, data } = this.queue[this.taken]!;
      if (slice.length > 0 && byteCount + data.length > batchBytesMax) break;
      this.taken += 1;
      byteCount += data.length;
      slice.push({ index, command: kind === 'command' ? data : emptyCommand });
    }
    if (this.taken === this.queue.length) {
      this.queue = [];
      this.taken = 0;
    }
    return slice;
  }
}
