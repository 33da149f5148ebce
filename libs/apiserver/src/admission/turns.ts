/**
 * Work under one key, one after the other in the order of asking. What is done has a deadline of its own,
 * so that nobody waits longer than for the deadlines of those before.
 */
import { tooManyRequests } from '@orch/apimachinery';
import { turnsWaitingMax } from '../limits.js';

interface Line {
  /** Settles when everything so far is done; never rejects. */
  last: Promise<void>;
  count: number;
}

export class Turns {
  private readonly lines = new Map<string, Line>();

  /** Throws 429 when too many wait, and whatever `work` throws. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.lines.get(key) ?? { last: Promise.resolve(), count: 0 };
    if (line.count >= turnsWaitingMax) {
      throw tooManyRequests('too many writes wait for the quotas of the namespace', 1);
    }
    this.lines.set(key, line);
    line.count += 1;
    const result = line.last.then(work);
    line.last = result.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await result;
    } finally {
      line.count -= 1;
      if (line.count === 0) this.lines.delete(key);
    }
  }
}
