/**
 * The way to the log on disk: one write at a time, timed; no write and no cut while the log is moved. A
 * failure leaves open what is on disk, so it ends the process.
 */
import type { LoopClock } from '@orch/component';
import { decodeConfiguration } from '../core/configuration-codec.js';
import type { Configuration, LogPoint, SnapshotPoint, WriteRequest } from '../core/types.js';
import type { LogObserver } from '../log-observer.js';
import type { LogIndex } from '../replicated-log.js';
import type { LogStore } from '../storage/log-store.js';
import { DiskLatency } from './disk-latency.js';

export interface LogWriterParts {
  readonly store: LogStore;
  readonly clock: LoopClock;
  readonly observer: LogObserver | undefined;
  readonly onWritten: (id: number) => void;
  readonly onFailed: (what: string, error: unknown) => void;
}

export class LogWriter {
  readonly latency = new DiskLatency();
  #writing: Promise<void> = Promise.resolve();
  #cutting: Promise<void> = Promise.resolve();
  #moving: Promise<void> = Promise.resolve();

  constructor(private readonly parts: LogWriterParts) {}

  write(request: WriteRequest): void {
    this.#writing = this.#write(request);
  }

  /** Forgets entries up to `index`. Undefined: it failed, and the process is about to end. */
  cut(index: LogIndex): Promise<LogPoint | undefined> {
    const cut = Promise.all([this.#cutting, this.#moving]).then(() => this.#cut(index));
    this.#cutting = cut.then(() => undefined);
    return cut;
  }

  moveTo(point: SnapshotPoint): Promise<boolean> {
    const moved = Promise.all([this.#writing, this.#cutting]).then(() => this.#moveTo(point));
    this.#moving = moved.then(() => undefined);
    return moved;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all([this.#writing, this.#cutting, this.#moving]);
  }

  async #write(request: WriteRequest): Promise<void> {
    const { store, clock, observer, onWritten, onFailed } = this.parts;
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

  async #cut(index: LogIndex): Promise<LogPoint | undefined> {
    const { store, onFailed } = this.parts;
    try {
      return await store.cut(index);
    } catch (error) {
      onFailed('cutting the log failed', error);
      return undefined;
    }
  }

  async #moveTo(point: SnapshotPoint): Promise<boolean> {
    const { store, onFailed } = this.parts;
    try {
      await store.moveTo(point);
      return true;
    } catch (error) {
      onFailed('moving the log up to a snapshot failed', error);
      return false;
    }
  }
}
