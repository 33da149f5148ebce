/**
 * The sending side of one watch. Events wait in a bounded queue and are written together once per
 * tick of the event loop; streams with the same events share the written memory. A slow client's
 * watch ends cleanly, and the client resumes from the last version that it received. Nothing is
 * dropped or reordered before that.
 */
import { watchQueueEventsMax } from '@orch/registry';
import {
  watchDrainTimeoutMs,
  watchFlushSliceMs,
  watchQueueBytesMax,
  watchSocketBufferBytesMax,
  watchWriteBytesMax,
} from '../limits.js';
import type { EndReason, Joiner, WatchChannel } from './watch-channel.js';

/** Joins equal pieces once for all streams. */
class SharedJoin implements Joiner {
  private pieces: readonly Buffer[] = [];
  private joined: Buffer = Buffer.alloc(0);

  join(pieces: readonly Buffer[]): Buffer {
    if (pieces.length === 1) return pieces[0]!;
    const { pieces: last } = this;
    if (last.length !== pieces.length || !pieces.every((piece, index) => piece === last[index])) {
      this.pieces = pieces;
      this.joined = Buffer.concat(pieces);
    }
    return this.joined;
  }

  clear(): void {
    this.pieces = [];
    this.joined = Buffer.alloc(0);
  }
}

/**
 * Flushes the streams with queued events, in their order of arrival, within a time slice per tick.
 * A stream that waits for its slice gathers further events, so writes become fewer under load.
 */
class FlushRound {
  private dirty: WatchStream[] = [];
  private head = 0;
  private readonly shared = new SharedJoin();

  add(stream: WatchStream): void {
    this.dirty.push(stream);
    if (this.dirty.length - this.head === 1) this.schedule();
  }

  private schedule(): void {
    setImmediate(() => this.run());
  }

  private run(): void {
    const endMs = performance.now() + watchFlushSliceMs;
    while (this.head < this.dirty.length) {
      this.dirty[this.head++]!.flush(this.shared);
      if (performance.now() < endMs) continue;
      // Flushed streams are released in batches, not one by one.
      if (this.head > 4_096) {
        this.dirty = this.dirty.slice(this.head);
        this.head = 0;
      }
      this.schedule();
      return;
    }
    this.dirty = [];
    this.head = 0;
    this.shared.clear();
  }
}

const round = new FlushRound();

export class WatchStream {
  private queue: Buffer[] = [];
  private queueBytes = 0;
  private scheduled = false;
  private blocked = false;
  private ended = false;
  private drained: Promise<void> | undefined;
  private onDrained: (() => void) | undefined;
  private readonly stopListening: () => void;

  constructor(
    private readonly channel: WatchChannel,
    private readonly onEnd: (reason: EndReason) => void,
    /** Pushes what waits to be encoded; called before a write and before the end. */
    private readonly pull: () => void = () => undefined,
  ) {
    channel.onClose(() => this.finish('client'));
    this.stopListening = channel.onDrain(() => {
      this.blocked = false;
      if (!this.ended) this.schedule();
    });
  }

  get isEnded(): boolean {
    return this.ended;
  }

  get queuedBytes(): number {
    return this.queueBytes;
  }

  /** Something waits to be pulled. */
  wake(): void {
    if (!this.ended) this.schedule();
  }

  push(bytes: Buffer): void {
    if (this.ended) return;
    this.queue.push(bytes);
    this.queueBytes += bytes.length;
    if (this.queue.length > watchQueueEventsMax || this.queueBytes > watchQueueBytesMax) {
      this.queue = [];
      this.end('slow');
      return;
    }
    this.schedule();
  }

  /**
   * Resolves when the queue is empty or the stream has ended; a client that reads nothing ends it.
   */
  whenDrained(): Promise<void> {
    if (this.queue.length === 0 || this.ended) return Promise.resolve();
    this.drained ??= new Promise((resolve) => {
      const timer = setTimeout(() => this.end('slow'), watchDrainTimeoutMs);
      this.onDrained = () => {
        clearTimeout(timer);
        this.onDrained = undefined;
        this.drained = undefined;
        resolve();
      };
    });
    return this.drained;
  }

  /** Sends the queued events, then the end. */
  end(reason: EndReason): void {
    if (this.ended) return;
    if (!this.blocked) this.flush(new SharedJoin());
    // The pull may have ended it.
    if (this.ended) return;
    this.finish(reason);
    this.channel.end(reason);
  }

  flush(shared: SharedJoin): void {
    this.scheduled = false;
    this.pull();
    while (this.queue.length > 0 && !this.ended) {
      if (this.blocked || this.channel.waiting() > watchSocketBufferBytesMax) {
        this.blocked = true;
        return;
      }
      if (!this.channel.write(this.takePieces(), shared)) this.blocked = true;
    }
    this.onDrained?.();
  }

  private takePieces(): Buffer[] {
    if (this.queueBytes <= watchWriteBytesMax) {
      const all = this.queue;
      this.queue = [];
      this.queueBytes = 0;
      return all;
    }
    let bytes = 0;
    let count = 0;
    while (count < this.queue.length && (count === 0 || bytes < watchWriteBytesMax)) {
      bytes += this.queue[count]!.length;
      count += 1;
    }
    this.queueBytes -= bytes;
    return this.queue.splice(0, count);
  }

  private schedule(): void {
    if (this.scheduled || this.blocked) return;
    this.scheduled = true;
    round.add(this);
  }

  private finish(reason: EndReason): void {
    if (this.ended) return;
    this.ended = true;
    this.stopListening();
    this.queue = [];
    this.queueBytes = 0;
    this.onDrained?.();
    this.onEnd(reason);
  }
}

/** One chunk of a chunked transfer. */
export function chunkFrame(parts: readonly Buffer[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const head = `${length.toString(16)}\r\n`;
  const frame = Buffer.allocUnsafe(head.length + length + 2);
  let at = frame.write(head, 0, 'latin1');
  for (const part of parts) at += part.copy(frame, at);
  frame[at] = 0x0d;
  frame[at + 1] = 0x0a;
  return frame;
}
