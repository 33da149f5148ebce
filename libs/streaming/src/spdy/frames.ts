/**
 * Encodes and decodes frames of SPDY/3.1. Pure. Control frames are decoded as a whole; the payload
 * of a data frame is passed on in the pieces in which it arrives, so that large frames are not
 * buffered.
 * Source: the published draft of SPDY/3.1, sections 2.2 and 2.6.
 */
import { controlFrameBytesMax } from '../limits.js';

export const frameTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

/** The frame is the last one of its sender on this stream. */
export const flagFin = 0x01;

export const resetCodes = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  cancel: 5,
} as const;

const version = 3;
const controlBit = 0x8000;
const headBytes = 8;

export interface ControlFrame {
  readonly kind: 'control';
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

export interface DataPiece {
  readonly kind: 'data';
  readonly streamId: number;
  readonly data: Buffer;
  /** Whether this is the last piece of a frame that ends the stream. */
  readonly fin: boolean;
}

export type Frame = ControlFrame | DataPiece;

/** The peer violates the protocol. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}

export class FrameParser {
  private pending: Buffer = Buffer.alloc(0);
  /** The data frame that is being received. */
  private open: { readonly streamId: number; readonly fin: boolean; bytesLeft: number } | undefined;

  /** Yields the frames that this chunk completes. Throws SpdyError. */
  *push(chunk: Buffer): Generator<Frame> {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    for (;;) {
      const frame = this.open ? this.dataPiece() : this.nextFrame();
      if (frame === 'incomplete') return;
      if (frame) yield frame;
    }
  }

  /** Reads the next frame; returns undefined for the head of a data frame. */
  private nextFrame(): Frame | 'incomplete' | undefined {
    if (this.pending.length < headBytes) return 'incomplete';
    const length = this.pending.readUIntBE(5, 3);
    const flags = this.pending[4]!;
    const first = this.pending.readUInt16BE(0);
    if ((first & controlBit) === 0) {
      const streamId = this.pending.readUInt32BE(0);
      this.open = { streamId, fin: (flags & flagFin) !== 0, bytesLeft: length };
      this.take(headBytes);
      return undefined;
    }
    if ((first & ~controlBit) !== version)
      throw new SpdyError('a frame has an unsupported version');
    if (length > controlFrameBytesMax) {
      throw new SpdyError(`a control frame is longer than ${controlFrameBytesMax} bytes`);
    }
    if (this.pending.length < headBytes + length) return 'incomplete';
    const type = this.pending.readUInt16BE(2);
    const payload = this.take(headBytes + length).subarray(headBytes);
    return { kind: 'control', type, flags, payload };
  }

  private dataPiece(): DataPiece | 'incomplete' {
    const open = this.open!;
    if (this.pending.length === 0 && open.bytesLeft > 0) return 'incomplete';
    const data = this.take(Math.min(open.bytesLeft, this.pending.length));
    open.bytesLeft -= data.length;
    const isLast = open.bytesLeft === 0;
    if (isLast) this.open = undefined;
    return { kind: 'data', streamId: open.streamId, data, fin: isLast && open.fin };
  }

  private take(byteCount: number): Buffer {
    const taken = this.pending.subarray(0, byteCount);
    this.pending = this.pending.subarray(byteCount);
    return taken;
  }
}

export function controlFrame(type: number, flags: number, payload: Buffer): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt16BE(controlBit | version, 0);
  head.writeUInt16BE(type, 2);
  head[4] = flags;
  head.writeUIntBE(payload.length, 5, 3);
  return Buffer.concat([head, payload]);
}

/** Returns the head of a data frame, without the data. */
export function dataFrameHead(streamId: number, byteCount: number, fin: boolean): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(streamId, 0);
  head[4] = fin ? flagFin : 0;
  head.writeUIntBE(byteCount, 5, 3);
  return head;
}

/** Encodes a payload of 32-bit numbers. */
export function numbers(...values: number[]): Buffer {
  const payload = Buffer.allocUnsafe(values.length * 4);
  for (const [index, value] of values.entries()) payload.writeUInt32BE(value, index * 4);
  return payload;
}

/** Reads a stream id at `offset`. Throws SpdyError if the payload is too short. */
export function streamIdAt(payload: Buffer, offset = 0): number {
  if (payload.length < offset + 4) throw new SpdyError('a control frame is too short');
  return payload.readUInt32BE(offset) & 0x7fff_ffff;
}
