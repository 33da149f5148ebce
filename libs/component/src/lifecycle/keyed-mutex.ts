/** One task at a time for each key; tasks of one key run in the order of arrival. */
import { mutexWaiterCountMax } from '../limits.js';

export class KeyedMutex {
  private readonly tails = new Map<string, { last: Promise<unknown>; waiterCount: number }>();

  /** Runs `task` when all earlier tasks of `key` are over, whatever their outcome. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const entry = this.tails.get(key) ?? { last: Promise.resolve(), waiterCount: 0 };
    if (entry.waiterCount >= mutexWaiterCountMax) {
      throw new Error(`more than ${mutexWaiterCountMax} tasks wait for ${key}`);
    }
    this.tails.set(key, entry);
    entry.waiterCount += 1;
    const result = entry.last.then(task, task);
    entry.last = result.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await result;
    } finally {
      entry.waiterCount -= 1;
      if (entry.waiterCount === 0) this.tails.delete(key);
    }
  }
}
