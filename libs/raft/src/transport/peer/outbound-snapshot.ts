/**
 * Sends one snapshot: header, pieces, end. A piece is handed over only when the one before it has
 * left, so that no more waits here than one piece; the receiver's pace is ours. `done` settles
 * exactly once: by the receiver's reply, a broken call, a standstill, or `abort`.
 */
import type { Clock, Timer } from '@orch/component';
import type { MemberId } from '../../core/types.js';
import { snapshotChunkBytes } from '../../storage/checked-stream.js';
import type { FrameSink } from '../frame-network.js';
import {
  type SnapshotHeader,
  type SnapshotPart,
  SnapshotPartCodec,
  SnapshotReplyCodec,
} from '../generated/wire.js';
import { snapshotFinishMs, snapshotStallMs } from '../limits.js';
import { errorText, TransportError } from '../transport-error.js';
import type { TransportObserver } from '../transport-observer.js';
import { decodeFrame, encodeFrame } from '../wire/frame.js';
import { Pacer } from './pacer.js';

export interface OutboundSnapshotDependencies {
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
  private isSettled = false;
  private settle: (error?: TransportError) => void = () => undefined;
  private stall: Timer | undefined;

  constructor(
    private readonly dependencies: OutboundSnapshotDependencies,
    chunks: AsyncIterable<Buffer>,
  ) {
    this.done = new Promise((resolve, reject) => {
      this.settle = (error) => {
        if (this.isSettled) return;
        this.isSettled = true;
        this.stall?.cancel();
        dependencies.sink.destroy();
        if (error) reject(error);
        else resolve();
      };
    });
    const failed = (error: unknown) => this.abort(errorText(error));
    dependencies.sink.reply.then((frame) => this.replied(frame)).catch(failed);
    this.send(chunks).catch(failed);
  }

  abort(reason: string): void {
    this.settle(new TransportError('Unreachable', `the snapshot was not sent whole: ${reason}`));
  }

  private async send(chunks: AsyncIterable<Buffer>): Promise<void> {
    const { clock, observer, peer, header, bytesPerSecond, sink } = this.dependencies;
    const pacer = new Pacer(clock, bytesPerSecond);
    let chunkCount = 0;
    let byteCount = 0;
    await this.write({ header });
    for await (const chunk of chunks) {
      if (chunk.length > snapshotChunkBytes) {
        throw new RangeError(`a piece of ${chunk.length} bytes, above ${snapshotChunkBytes}`);
      }
      await pacer.pass(chunk.length);
      await this.write({ chunk });
      if (this.isSettled) return;
      observer.snapshotSent(peer, chunk.length);
      chunkCount += 1;
      byteCount += chunk.length;
    }
    await this.write({ end: { chunkCount, byteCount } });
    if (this.isSettled) return;
    this.wait(snapshotFinishMs);
    sink.end();
  }

  private async write(part: SnapshotPart): Promise<void> {
    if (this.isSettled) return;
    this.wait(snapshotStallMs);
    await this.dependencies.sink.write(encodeFrame(SnapshotPartCodec, part));
  }

  private wait(timeoutMs: number): void {
    this.stall?.cancel();
    this.stall = this.dependencies.clock.setTimer(timeoutMs, () =>
      this.abort(`it stood still for ${timeoutMs} ms`),
    );
  }

  private replied(frame: Buffer): void {
    const { accepted, reason } = decodeFrame(SnapshotReplyCodec, frame);
    this.settle(accepted ? undefined : new TransportError('Refused', reason));
  }
}
