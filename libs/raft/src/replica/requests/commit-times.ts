/**
 * From the moment in which entries went to the disk until they were committed. One sample a write.
 */
import type { Clock } from '@orch/component';
import type { Entry, LogIndex } from '../../core/types.js';
import { commitSamplesMax } from '../../limits.js';
import type { LogObserver } from '../../log-observer.js';

export class CommitTimes {
  private pending: { readonly lastIndex: LogIndex; readonly atMs: number }[] = [];

  constructor(
    private readonly clock: Clock,
    private readonly observer: LogObserver | undefined,
  ) {}

  began(entries: readonly Entry[]): void {
    const last = entries.at(-1);
    if (!this.observer || !last || this.pending.length >= commitSamplesMax) return;
    this.pending.push({ lastIndex: last.index, atMs: this.clock.monotonicMs() });
  }

  committed(index: LogIndex): void {
    if (this.pending.length === 0) return;
    const nowMs = this.clock.monotonicMs();
    let done = 0;
    for (const { lastIndex, atMs } of this.pending) {
      if (lastIndex > index) break;
      done += 1;
      this.observer?.committed(nowMs - atMs);
    }
    this.pending = this.pending.slice(done);
  }

  clear(): void {
    this.pending = [];
  }
}
