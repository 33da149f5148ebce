/**
 * Append messages sent to one follower and not yet acknowledged: a window bounded by count and
 * bytes.
 */

import { invariant } from '../invariant.js';
import type { LogIndex } from '../types.js';

export class InFlight {
  /** Ring of the last index and the bytes of each message. */
  private readonly lastIndexes: Float64Array;
  private readonly byteCounts: Float64Array;
  private head = 0;
  private count = 0;
  private inFlightBytes = 0;

  constructor(
    private readonly messagesMax: number,
    private readonly bytesMax: number,
  ) {
    invariant(messagesMax >= 1 && bytesMax >= 1, 'an in-flight window lets nothing through');
    this.lastIndexes = new Float64Array(messagesMax);
    this.byteCounts = new Float64Array(messagesMax);
  }

  get messageCount(): number {
    return this.count;
  }

  get byteCount(): number {
    return this.inFlightBytes;
  }

  get full(): boolean {
    return this.count === this.messagesMax || this.inFlightBytes >= this.bytesMax;
  }

  add(lastIndex: LogIndex, byteCount: number): void {
    invariant(!this.full, 'a full in-flight window takes one more message');
    invariant(byteCount > 0, 'a message in flight has no bytes');
    const newest = (this.head + this.count - 1 + this.messagesMax) % this.messagesMax;
    invariant(
      this.count === 0 || this.lastIndexes[newest]! < lastIndex,
      'a message in flight ends before an earlier one',
    );
    const at = (this.head + this.count) % this.messagesMax;
    this.lastIndexes[at] = lastIndex;
    this.byteCounts[at] = byteCount;
    this.count += 1;
    this.inFlightBytes += byteCount;
  }

  /** Everything up to `index` has arrived. */
  acknowledge(index: LogIndex): void {
    while (this.count > 0 && this.lastIndexes[this.head]! <= index) {
      this.inFlightBytes -= this.byteCounts[this.head]!;
      this.head = (this.head + 1) % this.messagesMax;
      this.count -= 1;
    }
    invariant(this.inFlightBytes >= 0, 'more bytes are acknowledged than were sent');
    invariant(this.count > 0 || this.inFlightBytes === 0, 'an empty window counts bytes');
  }

  clear(): void {
    this.head = 0;
    this.count = 0;
    this.inFlightBytes = 0;
  }
}
