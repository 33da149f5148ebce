/**
 * Writes the log on disk: one write at a time, timed; no write and no compaction while the log is
 * moved. A failure leaves the content of the disk unknown, so it ends the process.
 */
import type { LoopClock } from '@orch/component';
import { decodeConfiguration } from '../../core/configuration/configuration-codec.js';
import type { WriteRequest } from '../../core/output.js';
import type { Configuration, LogIndex, LogPoint, SnapshotPoint } from '../../core/types.js';
import type { LogObserver } from '../../log-observer.js';
import type { LogStore } from '../../storage/log-store.js';
import { DiskLatency } from './disk-latency.js';

export interface LogWriterDependencies {
  readonly store: LogStore;
  readonly clock: LoopClock;
  readonly observer: LogObserver | undefined;
  readonly onWritten: (id: number) => void;
  readonly onFailed: (what: string, error: unknown) => void;
}

export class LogWriter {
  readonly latency = new DiskLatency();
  private writing: Promise<void> = Promise.resolve();
  private compacting: Promise<void> = Promise.resolve();
  private moving: Promise<void> = Promise.resolve();

  constructor(private readonly dependencies: LogWriterDependencies) {}

  write(request: WriteRequest): void {
    this.writing = this.performWrite(request);
  }

  /** Forgets entries up to `index`. Undefined: it failed, and the process is about to end. */
  compact(index: LogIndex): Promise<LogPoint | undefined> {
    const cut = Promise.all([this.compacting, this.moving]).then(() =>
      this.performCompaction(index),
    );
    this.compacting = cut.then(() => undefined);
    return cut;
  }

  moveTo(point: SnapshotPoint): Promise<boolean> {
    const moved = Promise.all([this.writing, this.compacting]).then(() => this.performMove(point));
    this.moving = moved.then(() => undefined);
    return moved;
  }

  /** Resolves when no write, compaction or move is in progress. */
  async idle(): Promise<void> {
    await Promise.all([this.writing, this.compacting, this.moving]);
  }

  private async performWrite(request: WriteRequest): Promise<void> {
    const { store, clock, observer, onWritten, onFailed } = this.dependencies;
    const { hardState, truncateFrom, entries } = request;
    const changed: { index: LogIndex; configuration: Configuration }[] = [];
    let byteCount = 0;
    for (const { index, kind, data } of entries) {
      byteCount += data.length;
      if (kind === 'configuration') {
        changed.push({ index, configuration: decodeConfiguration(data) });
      }
    }
    this.latency.began(clock.monotonicMs());
    try {
      await store.write({ hardState, truncateFrom, entries }, changed);
    } catch (error) {
      onFailed('writing the log failed', error);
      return;
    }
    observer?.synced(entries.length, byteCount, this.latency.ended(clock.monotonicMs()));
    onWritten(request.id);
  }

  private async performCompaction(index: LogIndex): Promise<LogPoint | undefined> {
    const { store, onFailed } = this.dependencies;
    try {
      return await store.compact(index);
    } catch (error) {
      onFailed('compacting the log failed', error);
      return undefined;
    }
  }

  private async performMove(point: SnapshotPoint): Promise<boolean> {
    const { store, onFailed } = this.dependencies;
    try {
      await store.moveTo(point);
      return true;
    } catch (error) {
      onFailed('moving the log up to a snapshot failed', error);
      return false;
    }
  }
}
