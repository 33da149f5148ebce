/**
 * Drops what compaction has freed, in slices, from memory and disk alike. One run at a time. Nothing goes
 * that the last checkpoint shows as present: a start may have to go back to it.
 */
import type { LoopClock } from '@orch/component';
import { SWEEP_SLICE_VERSIONS } from '../limits.js';
import type { LiveState } from './live-state.js';

export class Sweeper {
  #running: Promise<void> | undefined;

  constructor(
    private readonly clock: LoopClock,
    /** The state in use; undefined: there is nothing to be swept now. */
    private readonly live: () => LiveState | undefined,
  ) {}

  sweep(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when no run is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    const live = this.live();
    for (;;) {
      await this.clock.nextTurn();
      if (!live || live !== this.live()) return;
      const { machine, writer, checkpointer } = live;
      const { compactedRevision } = machine;
      const upTo = Math.min(compactedRevision, checkpointer.revision);
      const drops = machine.keys.sweep(upTo, SWEEP_SLICE_VERSIONS);
      if (drops.length === 0) {
        if (upTo < compactedRevision) checkpointer.request(writer);
        return;
      }
      writer.enqueue(machine.facts, [], drops, new Map());
      await writer.room();
    }
  }
}
