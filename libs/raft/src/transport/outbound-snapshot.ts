/**
 * Sends one snapshot: header, pieces, end. A piece is handed over only when the one before it has left, so
 * that no more waits here than one piece; the receiver's pace is ours. `done` settles exactly once: by the
 * receiver's reply, a broken call, a standstill, or `abort`.
 */
import type { Clock, Timer } from '@orch/component';
import type { MemberId } from '../core/types.js';
import { SNAPSHOT_CHUNK_BYTES } from '../storage/checked-stream.js';
import { decodeFrame, encodeFrame } from './frame.js';
import type { FrameSink } from './frame-network.js';
import {
  type SnapshotHeader,
  type SnapshotPart,
  SnapshotPartCodec,
  SnapshotReplyCodec,
} from './generated/wire.js';
import { SNAPSHOT_FINISH_MS, SNAPSHOT_STALL_MS } from './limits.js';
import { Pacer } from './pacer.js';
import { errorText, TransportError } from './transport-error.js';
import type { TransportObserver } from './transport-observer.js';

export interface OutboundSnapshotParts {
  readonly peer: MemberId;
  readonly header: SnapshotHeader;
  readonly sink: FrameSink;
  readonly clock: Clock;
  readonly observer: TransportObserver;
  readonly bytesPerSecond: number;
}

export class OutboundSnapshot {
  /** Resolves when the peer has it whole and verified. Rejects with TransportError. */
  readonly done: Promise<void>;
  #isSettled = false;
  #settle: (error?: TransportError) => void = () => undefined;
  #stall: Timer | undefined;

  constructor(
    private readonly parts: OutboundSnapshotParts,
    chunks: AsyncIterable<Buffer>,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.#settle = (error) => {
        if (this.#isSettled) return;
        this.#isSettled = true;
        this.#stall?.cancel();
        parts.sink.destroy();
        if (error) reject(error);
        else resolve();
      };
    });
    const failed = (error: unknown) => this.abort(errorText(error));
    parts.sink.reply.then((frame) => this.#replied(frame)).catch(failed);
    this.#send(chunks).catch(failed);
  }

  abort(reason: string): void {
    this.#settle(new TransportError('Unreachable', `the snapshot was not sent whole: ${reason}`));
  }

  async #send(chunks: AsyncIterable<Buffer>): Promise<void> {
    const { clock, observer, peer, header, bytesPerSecond, sink } = this.parts;
    const pacer = new Pacer(clock, bytesPerSecond);
    let chunkCount = 0;
    let byteCount = 0;
    await this.#write({ header });
    for await (const chunk of chunks) {
      if (chunk.length > SNAPSHOT_CHUNK_BYTES) {
        throw new RangeError(`a piece of ${chunk.length} bytes, above ${SNAPSHOT_CHUNK_BYTES}`);
      }
      await pacer.pass(chunk.length);
      await this.#write({ chunk });
      if (this.#isSettled) return;
      observer.snapshotSent(peer, chunk.length);
      chunkCount += 1;
      byteCount += chunk.length;
    }
    await this.#write({ end: { chunkCount, byteCount } });
    if (this.#isSettled) return;
    this.#wait(SNAPSHOT_FINISH_MS);
    sink.end();
  }

  async #write(part: SnapshotPart): Promise<void> {
    if (this.#isSettled) return;
    this.#wait(SNAPSHOT_STALL_MS);
    await this.parts.sink.write(encodeFrame(SnapshotPartCodec, part));
  }

  #wait(timeoutMs: number): void {
    this.#stall?.cancel();
    this.#stall = this.parts.clock.setTimer(timeoutMs, () =>
      this.abort(`it stood still for ${timeoutMs} ms`),
    );
  }

  #replied(frame: Buffer): void {
    const { accepted, reason } = decodeFrame(SnapshotReplyCodec, frame);
    this.#settle(accepted ? undefined : new TransportError('Refused', reason));
  }
}
