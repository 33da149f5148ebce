/** A watch that continues at another replica whenever its own ends or dies, as clients do. */
import { type Revision, StoreError, type WatchEvent, type WatchHandle } from '@orch/store';
import type { WatchRecord } from '../history/history.js';
import type { Endpoint } from './client.js';
import { contentOf } from './objects.js';
import type { Random } from './random.js';
import type { SimLoop } from './sim-loop.js';

const retryMs = 50;

export class SimWatcher {
  readonly record: WatchRecord;
  resumedCount = 0;
  private endpoint: Endpoint | undefined;
  private handle: WatchHandle | undefined;
  /** Counts openings: what an earlier one still says is not heard. */
  private attempt = 0;
  private stopped = false;
  private busy: Promise<void> | undefined;

  constructor(
    client: string,
    prefix: string,
    afterRevision: number,
    private readonly loop: SimLoop,
    private readonly random: Random,
    private readonly endpoints: readonly Endpoint[],
    private readonly lifeMs: number,
    /** How long it processes a batch before it reads the next; 0: no time. */
    private readonly slowMs: number,
  ) {
    this.record = {
      client,
      prefix,
      afterRevision,
      events: [],
      progress: afterRevision,
      ended: 'open',
    };
  }

  start(): void {
    this.open(this.attempt);
  }

  /** Ends it; delivered events remain. */
  stop(): void {
    this.note();
    this.stopped = true;
    this.handle?.close();
  }

  /** The process that served it has died: nothing more comes. */
  lost(endpoint: Endpoint): void {
    if (this.endpoint === endpoint && this.handle) this.retry();
  }

  /** The position of the handle, as a bookmark reports it. */
  private note(): void {
    const { handle, record } = this;
    if (!handle || handle.revision <= record.progress) return;
    record.progress = handle.revision;
    record.events.push({ kind: 'bookmark', revision: handle.revision });
  }

  private open(attempt: number): void {
    if (this.stopped || attempt !== this.attempt) return;
    this.endpoint = this.random.pick(this.endpoints);
    const { store } = this.endpoint;
    if (!store) {
      this.retry();
      return;
    }
    const isCurrent = () =>
      !this.stopped && attempt === this.attempt && this.endpoint?.store === store;
    try {
      const handle = store.watch({
        prefix: this.record.prefix,
        afterRevision: this.record.progress as Revision,
        onEvents: (events, revision) => {
          if (isCurrent()) this.onEvents(events, revision);
        },
        onEnd: (error) => {
          if (isCurrent()) this.onEnd(error);
        },
        whenReady: () => this.busy,
      });
      if (!isCurrent()) return;
      this.handle = handle;
      this.schedule(attempt);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.onEnd(error);
    }
  }

  private schedule(attempt: number): void {
    this.loop.after(this.random.magnitude(10, this.lifeMs), () => {
      if (this.stopped || attempt !== this.attempt) return;
      this.note();
      if (this.random.chance(0.5)) this.schedule(attempt);
      else this.retry();
    });
  }

  private onEvents(events: readonly WatchEvent[], revision: number): void {
    const { record } = this;
    if (this.slowMs > 0) {
      this.busy ??= new Promise((resolve) => {
        this.loop.after(this.random.between(0, this.slowMs), () => {
          this.busy = undefined;
          resolve();
        });
      });
    }
    for (const event of events) {
      const { kind, key, entry, previous } = event;
      record.events.push({
        revision: event.revision,
        kind,
        key,
        value: contentOf(entry),
        previous: previous && contentOf(previous),
      });
    }
    record.progress = Math.max(record.progress, revision);
  }

  private onEnd(error: StoreError): void {
    if (error.code !== 'Compacted') {
      this.retry();
      return;
    }
    this.record.ended = 'compacted';
    this.handle = undefined;
    this.stopped = true;
  }

  private retry(): void {
    this.handle?.close();
    this.handle = undefined;
    this.attempt += 1;
    this.resumedCount += 1;
    const { attempt } = this;
    this.loop.after(this.random.between(1, retryMs), () => this.open(attempt));
  }
}
