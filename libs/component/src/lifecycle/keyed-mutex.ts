/**
 * A mutex per key: runs one task of a key at a time, in order of arrival. Keys do not block each
 * other.
 */
import { mutexWaiterCountMax } from '../limits.js';

export interface KeyedMutexOptions {
  /**
   * Tasks of one key, the running one included. Higher: more memory, longer waits. Lower: more
   * refusals.
   */
  readonly waiterCountMax?: number;
  /** The error thrown when the queue of `key` is full; a plain `Error` by default. */
  readonly queueFullError?: (key: string) => Error;
}

interface TaskQueue {
  /** Settles when every task so far has settled; never rejects. */
  last: Promise<void>;
  taskCount: number;
}

export class KeyedMutex {
  private readonly queues = new Map<string, TaskQueue>();

  constructor(private readonly options: KeyedMutexOptions = {}) {}

  /**
   * Runs `task` after all earlier tasks of `key` have settled, and returns its result. Throws what
   * `task` throws, and an error when too many tasks of `key` wait.
   */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(key) ?? { last: Promise.resolve(), taskCount: 0 };
    const { waiterCountMax = mutexWaiterCountMax, queueFullError } = this.options;
    if (queue.taskCount >= waiterCountMax) {
      throw (
        queueFullError?.(key) ??
        new Error(`more than ${waiterCountMax} tasks wait for the mutex of ${key}`)
      );
    }
    this.queues.set(key, queue);
    queue.taskCount += 1;
    const result = queue.last.then(task);
    queue.last = result.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await result;
    } finally {
      queue.taskCount -= 1;
      if (queue.taskCount === 0) this.queues.delete(key);
    }
  }
}
