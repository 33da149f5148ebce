/**
 * Collects the items of a key while a batch of the same key runs, and then runs them as the next
 * batch. The first batch waits for the items of the same turn of the event loop: requests whose
 * responses were written together arrive together. Keys do not block each other.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface BatchQueueOptions<Item> {
  /** Settles every item of the batch itself; must not reject. */
  readonly run: (key: string, batch: readonly Item[]) => Promise<void>;
  /** Higher: a batch takes longer. Lower: more batches. */
  readonly batchSizeMax: number;
  /** Items of one key that wait. Higher: more memory, longer waits. Lower: more refusals. */
  readonly waiterCountMax: number;
  /** The error thrown if too many items of a key wait. */
  readonly queueFullError: () => Error;
}

export class BatchQueue<Item> {
  /** The waiting items of the keys that run a batch. */
  private readonly waiting = new Map<string, Item[]>();

  constructor(private readonly options: BatchQueueOptions<Item>) {}

  /** Throws if too many items of the key wait. */
  add(key: string, item: Item): void {
    const queue = this.waiting.get(key);
    if (!queue) {
      this.waiting.set(key, [item]);
      void this.drain(key);
      return;
    }
    if (queue.length >= this.options.waiterCountMax) throw this.options.queueFullError();
    queue.push(item);
  }

  private async drain(key: string): Promise<void> {
    const queue = this.waiting.get(key)!;
    await nextTurn();
    while (queue.length > 0) {
      await this.options.run(key, queue.splice(0, this.options.batchSizeMax));
    }
    this.waiting.delete(key);
  }
}
