/** A stream of a SPDY session: a duplex whose halves end independently. */
import { Duplex } from 'node:stream';
import { streamBufferBytesMax } from '../limits.js';
import { resetCodes } from './frames.js';
import type { StreamHeaders } from './headers.js';

/** The operations of a session that its streams use. */
export interface StreamSession {
  sendData(streamId: number, data: Buffer, fin: boolean, done: () => void): void;
  reset(streamId: number, code: number): void;
  closed(stream: SpdyStream): void;
}

export class SpdyStream extends Duplex {
  private hasEnded = false;
  private hasFinished = false;
  private wake: (() => void) | undefined;

  constructor(
    readonly id: number,
    readonly headers: StreamHeaders,
    private readonly session: StreamSession,
  ) {
    super({ readableHighWaterMark: streamBufferBytesMax, allowHalfOpen: true });
    // An aborted stream is noticed by its end; an error listener is optional.
    this.on('error', () => undefined);
  }

  /** Receives data from the session. Returns a promise if reading must pause until it resolves. */
  receive(data: Buffer, fin: boolean): Promise<void> | undefined {
    if (this.destroyed || this.hasEnded) return undefined;
    const wantsMore = data.length === 0 || this.push(data);
    if (fin) {
      this.hasEnded = true;
      this.push(null);
    }
    if (wantsMore || fin) return undefined;
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /**
   * Destroys the stream without sending a frame, because the peer has reset it or the session is
   * closed.
   */
  abort(reason: string): void {
    this.hasEnded = true;
    this.hasFinished = true;
    this.destroy(new Error(reason));
  }

  override _read(): void {
    this.wakeSession();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.session.sendData(this.id, chunk, false, done);
  }

  override _final(done: () => void): void {
    this.hasFinished = true;
    this.session.sendData(this.id, Buffer.alloc(0), true, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.wakeSession();
    if (!this.hasEnded || !this.hasFinished) this.session.reset(this.id, resetCodes.cancel);
    this.session.closed(this);
    done(error);
  }

  private wakeSession(): void {
    this.wake?.();
    this.wake = undefined;
  }
}
