/**
 * A snapshot that comes in. Its sender is judged as on any other call; the pieces are handed on at the
 * reader's pace, and only a snapshot that was read to its end, with as many pieces and bytes as its sender
 * counted, is acknowledged.
 */
import { type Clock, withDeadline } from '@orch/component';
import type { MemberId } from '../core/types.js';
import { SNAPSHOT_CHUNK_BYTES } from '../storage/checked-stream.js';
import { decodeFrame, encodeFrame } from './frame.js';
import { type SnapshotPart, SnapshotPartCodec, SnapshotReplyCodec } from './generated/wire.js';
import { SNAPSHOT_STALL_MS } from './limits.js';
import type { TransportHandlers } from './transport.js';
import { errorText, TransportError } from './transport-error.js';
import type { TransportObserver } from './transport-observer.js';
import { snapshotPointFromWire } from './wire-forms.js';
import { WireError } from './wire-reader.js';

export interface InboundSnapshotParts {
  readonly clock: Clock;
  readonly observer: TransportObserver;
  readonly handlers: Pick<TransportHandlers, 'onGreeting' | 'onSnapshot'>;
}

/** The frame to reply with, whatever happens. */
export async function receiveSnapshot(
  frames: AsyncIterator<Buffer>,
  parts: InboundSnapshotParts,
): Promise<Buffer> {
  try {
    await new SnapshotIntake(frames, parts).run();
    return encodeFrame(SnapshotReplyCodec, { accepted: true, reason: '' });
  } catch (error) {
    if (error instanceof WireError) parts.observer.damaged('');
    return encodeFrame(SnapshotReplyCodec, { accepted: false, reason: errorText(error) });
  }
}

class SnapshotIntake {
  #isWhole = false;

  constructor(
    private readonly frames: AsyncIterator<Buffer>,
    private readonly parts: InboundSnapshotParts,
  ) {}

  async run(): Promise<void> {
    const { handlers } = this.parts;
    const { header } = await this.#next();
    if (!header) throw new WireError('a snapshot without header');
    const { greeting, term } = header;
    const answer = await handlers.onGreeting(greeting);
    if (answer.kind !== 'welcome') {
      throw new TransportError('Refused', `the sender is refused: ${answer.kind}`);
    }
    const point = snapshotPointFromWire(header);
    await handlers.onSnapshot(greeting.memberId, term, point, this.#chunks(greeting.memberId));
    if (!this.#isWhole) throw new TransportError('Refused', 'it was not read to its end');
  }

  async *#chunks(from: MemberId): AsyncGenerator<Buffer> {
    let chunkCount = 0;
    let byteCount = 0;
    for (;;) {
      const { chunk, end } = await this.#next();
      if (end) {
        if (end.chunkCount !== chunkCount || end.byteCount !== byteCount) {
          throw new WireError('a snapshot is not what its sender counted');
        }
        this.#isWhole = true;
        return;
      }
      if (!chunk || chunk.length > SNAPSHOT_CHUNK_BYTES)
        throw new WireError('no piece, or too big');
      chunkCount += 1;
      byteCount += chunk.length;
      this.parts.observer.snapshotReceived(from, chunk.length);
      yield chunk;
    }
  }

  async #next(): Promise<SnapshotPart> {
    const what = 'waiting for a piece of a snapshot';
    const { clock } = this.parts;
    const { done, value } = await withDeadline(this.frames.next(), SNAPSHOT_STALL_MS, what, clock);
    if (done) throw new TransportError('Unreachable', 'the snapshot broke off');
    return decodeFrame(SnapshotPartCodec, value);
  }
}
