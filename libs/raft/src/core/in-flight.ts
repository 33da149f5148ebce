/** Append messages sent to one follower and not yet acknowledged: a window bounded by count and bytes. */
import type { LogIndex } from '../replicated-log.js';
import { invariant } from './invariant.js';

export class InFlight {
  /** Ring of the last index and the bytes of each message. */
  readonly #lastIndexes: Float64Array;
  readonly #byteCounts: Float64Array;
  #head = 0;
  #count = 0;
  #byteCount = 0;

  constructor(
    private readonly messagesMax: number,
    private readonly bytesMax: number,
  ) {
    invariant(messagesMax >= 1 && bytesMax >= 1, 'an in-flight window lets nothing through');
    this.#lastIndexes = new Float64Array(messagesMax);
    this.#byteCounts = new Float64Array(messagesMax);
  }

  get messageCount(): number {
    return this.#count;
  }

  get byteCount(): number {
    return this.#byteCount;
  }

  get full(): boolean {
    return this.#count === this.messagesMax || this.#byteCount >= this.bytesMax;
  }

  add(lastIndex: LogIndex, byteCount: number): void {
    invariant(!this.full, 'a full in-flight window takes one more message');
    const at = (this.#head + this.#count) % this.messagesMax;
    this.#lastIndexes[at] = lastIndex;
    this.#byteCounts[at] = byteCount;
    this.#count += 1;
    this.#byteCount += byteCount;
  }

  /** Everything up to `index` has arrived. */
  acknowledge(index: LogIndex): void {
    while (this.#count > 0 && this.#lastIndexes[this.#head]! <= index) {
      this.#byteCount -= this.#byteCounts[this.#head]!;
      this.#head = (this.#head + 1) % this.messagesMax;
      this.#count -= 1;
    }
  }

  clear(): void {
    this.#head = 0;
    this.#count = 0;
    this.#byteCount = 0;
  }
}
