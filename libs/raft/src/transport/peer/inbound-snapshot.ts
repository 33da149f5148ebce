/**
 * An incoming snapshot. Its sender is checked as on any other call; chunks are passed on at the
 * reader's pace, and only a snapshot that was read to its end, with all chunks and bytes that its
 * sender counted, is acknowledged.
 */

import { type Clock, withDeadline } from '@orch/component';
import { asMemberId, asTerm, branded } from '../../core/brands.js';
import type { MemberId } from '../../core/types.js';
import { snapshotChunkBytes } from '../../storage/checked-stream.js';
import { type SnapshotPart, SnapshotPartCodec, SnapshotReplyCodec } from '../generated/wire.js';
import { snapshotStallMs } from '../limits.js';
import type { TransportHandlers } from '../transport.js';
import { errorText, TransportError } from '../transport-error.js';
import type { TransportObserver } from '../transport-observer.js';
import { decodeFrame, encodeFrame } from '../wire/frame.js';
import { WireError } from '../wire/wire-reader.js';
import { snapshotPointFromWire } from './wire-forms.js';

export interface InboundSnapshotDependencies {
  readonly clock: Clock;
  readonly observer: TransportObserver;
  readonly handlers: Pick<TransportHandlers, 'onGreeting' | 'onSnapshot'>;
}

/** The frame to reply with, whatever happens. */
export async function receiveSnapshot(
  frames: AsyncIterator<Buffer>,
  parts: InboundSnapshotDependencies,
): Promise<Buffer> {
  try {
    await new SnapshotIntake(frames, parts).run();
    return encodeFrame(SnapshotReplyCodec, { accepted: true, reason: '' });
  } catch (error) {
    if (error instanceof WireError) parts.observer.damaged(asMemberId(''));
    return encodeFrame(SnapshotReplyCodec, { accepted: false, reason: errorText(error) });
  }
}

class SnapshotIntake {
  private isWhole = false;

  constructor(
    private readonly frames: AsyncIterator<Buffer>,
    private readonly dependencies: InboundSnapshotDependencies,
  ) {}

  async run(): Promise<void> {
    const { handlers } = this.dependencies;
    const { header } = await this.next();
    if (!header) throw new WireError('a snapshot without header');
    const { greeting, term } = header;
    const answer = await handlers.onGreeting(branded(greeting));
    if (answer.kind !== 'welcome') {
      throw new TransportError('Refused', `the sender is refused: ${answer.kind}`);
    }
    const point = snapshotPointFromWire(header);
    await handlers.onSnapshot(
      asMemberId(greeting.memberId),
      asTerm(term),
      point,
      this.chunks(asMemberId(greeting.memberId)),
    );
    if (!this.isWhole) throw new TransportError('Refused', 'it was not read to its end');
  }

  private async *chunks(from: MemberId): AsyncGenerator<Buffer> {
    let chunkCount = 0;
    let byteCount = 0;
    for (;;) {
      const { chunk, end } = await this.next();
      if (end) {
        if (end.chunkCount !== chunkCount || end.byteCount !== byteCount) {
          throw new WireError('a snapshot is not what its sender counted');
        }
        this.isWhole = true;
        return;
      }
      if (!chunk || chunk.length > snapshotChunkBytes) throw new WireError('no piece, or too big');
      chunkCount += 1;
      byteCount += chunk.length;
      this.dependencies.observer.snapshotReceived(from, chunk.length);
      yield chunk;
    }
  }

  private async next(): Promise<SnapshotPart> {
    const what = 'waiting for a piece of a snapshot';
    const { clock } = this.dependencies;
    const { done, value } = await withDeadline(this.frames.next(), snapshotStallMs, what, clock);
    if (done) throw new TransportError('Unreachable', 'the snapshot broke off');
    return decodeFrame(SnapshotPartCodec, value);
  }
}
