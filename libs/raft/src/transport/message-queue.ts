/**
 * Messages that wait for one peer, bounded by count and bytes. When there is no room, everything that waits
 * is dropped: the newest message is worth more than a row with a gap, and consensus begins again from it.
 */
import type { Message } from '../core/types.js';
import { FRAME_BYTES_TARGET, QUEUE_BYTES_MAX, QUEUE_MESSAGES_MAX } from './limits.js';

/** Ids, numbers and tags of one message or entry, generously. */
const OVERHEAD_BYTES = 64;
const ENTRY_OVERHEAD_BYTES = 32;

export class MessageQueue {
  #messages: Message[] = [];
  #sizes: number[] = [];
  #bytes = 0;

  get length(): number {
    return this.#messages.length;
  }

  get byteCount(): number {
    return this.#bytes;
  }

  /** How many had to be dropped to make room. */
  push(message: Message, bytes: number): number {
    const isFull =
      this.#messages.length >= QUEUE_MESSAGES_MAX || this.#bytes + bytes > QUEUE_BYTES_MAX;
    const droppedCount = isFull ? this.clear() : 0;
    this.#messages.push(message);
    this.#sizes.push(bytes);
    this.#bytes += bytes;
    return droppedCount;
  }

  /** The next ones, together at most a frame's worth, at least one. */
  takeFrame(): Message[] {
    let count = 0;
    let bytes = 0;
    while (count < this.#messages.length) {
      const next = this.#sizes[count]!;
      if (count > 0 && bytes + next > FRAME_BYTES_TARGET) break;
      bytes += next;
      count += 1;
    }
    this.#bytes -= bytes;
    if (count === this.#messages.length) {
      const all = this.#messages;
      this.#messages = [];
      this.#sizes = [];
      return all;
    }
    this.#sizes.splice(0, count);
    return this.#messages.splice(0, count);
  }

  /** How many there were. */
  clear(): number {
    const count = this.#messages.length;
    this.#messages = [];
    this.#sizes = [];
    this.#bytes = 0;
    return count;
  }
}

/** Bytes on the wire, never fewer. */
export function messageBytes(message: Message): number {
  let bytes = OVERHEAD_BYTES + message.from.length + message.to.length;
  if (message.kind === 'appendRequest') {
    for (const { data } of message.entries) bytes += ENTRY_OVERHEAD_BYTES + data.length;
  } else if (message.kind === 'proposeRequest') {
    for (const { data } of message.commands) bytes += ENTRY_OVERHEAD_BYTES + data.length;
  } else if (message.kind === 'proposeRefusal') {
    bytes += message.ids.length * 8;
  }
  return bytes;
}
