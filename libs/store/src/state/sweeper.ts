/**
 * Drops the versions that compaction has freed, in slices, from memory and from disk. One run at a
 * time. Retains every version that the last checkpoint needs: a start may have to return to it.
 */
import type { LoopClock } from '@orch/component';
import { sweepSliceVersions } from '../limits.js';
import type { LiveState } from './live-state.js';

export class Sweeper {
  private running: Promise<void> | undefined;

  constructor(
    private readonly clock: LoopClock,
    /** Returns the state in use; undefined if nothing can be swept now. */
    private readonly live: () => LiveState | undefined,
  ) {}

  sweep(): void {
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  /** Resolves when no run is in progress. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    const live = this.live();
    for (;;) {
      await this.clock.nextTurn();
      if (!live || live !== this.live()) return;
      const { machine, writer, checkpointer } = live;
      const { compactedRevision } = machine;
      const upTo = Math.min(compactedRevision, checkpointer.revision);
      const drops = machine.keys.sweep(upTo, sweepSliceVersions);
      if (drops.length === 0) {
        if (upTo < compactedRevision) checkpointer.request(writer);
        return;
      }
      writer.enqueue(machine.facts, [], drops, new Map());
      await writer.room();
    }
  }
}
