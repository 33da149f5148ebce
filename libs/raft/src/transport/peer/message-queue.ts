/**
 * Messages that wait for one peer, bounded by count and bytes. When there is no room, everything
 * that waits is dropped: the newest message is worth more than a row with a gap, and consensus
 * begins again from it.
 */
import type { Message } from '../../core/messages.js';
import { frameBytesTarget, queueBytesMax, queueMessagesMax } from '../limits.js';

/** Ids, numbers and tags of one message or entry, generously. */
const overheadBytes = 64;
const entryOverheadBytes = 32;

export class MessageQueue {
  private messages: Message[] = [];
  private sizes: number[] = [];
  private bytes = 0;

  get length(): number {
    return this.messages.length;
  }

  get byteCount(): number {
    return this.bytes;
  }

  /** How many had to be dropped to make room. */
  push(message: Message, bytes: number): number {
    const isFull = this.messages.length >= queueMessagesMax || this.bytes + bytes > queueBytesMax;
    const droppedCount = isFull ? this.clear() : 0;
    this.messages.push(message);
    this.sizes.push(bytes);
    this.bytes += bytes;
    return droppedCount;
  }

  /** The next ones, together at most a frame's worth, at least one. */
  takeFrame(): Message[] {
    let count = 0;
    let bytes = 0;
    while (count < this.messages.length) {
      const next = this.sizes[count]!;
      if (count > 0 && bytes + next > frameBytesTarget) break;
      bytes += next;
      count += 1;
    }
    this.bytes -= bytes;
    if (count === this.messages.length) {
      const all = this.messages;
      this.messages = [];
      this.sizes = [];
      return all;
    }
    this.sizes.splice(0, count);
    return this.messages.splice(0, count);
  }

  /** How many there were. */
  clear(): number {
    const count = this.messages.length;
    this.messages = [];
    this.sizes = [];
    this.bytes = 0;
    return count;
  }
}

/** Bytes on the wire, never fewer. */
export function messageBytes(message: Message): number {
  let bytes = overheadBytes + message.from.length + message.to.length;
  if (message.kind === 'appendRequest') {
    for (const { data } of message.entries) bytes += entryOverheadBytes + data.length;
  } else if (message.kind === 'proposeRequest') {
    for (const { data } of message.commands) bytes += entryOverheadBytes + data.length;
  } else if (message.kind === 'proposeRefusal') {
    bytes += message.ids.length * 8;
  }
  return bytes;
}
