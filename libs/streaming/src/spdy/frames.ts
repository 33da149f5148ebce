/**
 * Frames of SPDY/3.1: bytes to frames and back. Pure. Control frames come out whole; the payload of a
 * data frame comes out in the pieces it arrived in, so that no large frame is held.
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

/** The sender of the frame sends nothing more on this stream. */
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
  /** The last piece of a frame that ends the stream. */
  readonly fin: boolean;
}

export type Frame = ControlFrame | DataPiece;

/** The other side does not keep to the protocol. */
export class SpdyError extends Error {
  override readonly name = 'SpdyError';
}

export class FrameParser {
  private pending: Buffer = Buffer.alloc(0);
  /** The data frame under way. */
  private open: { readonly streamId: number; readonly fin: boolean; bytesLeft: number } | undefined;

  /** Frames that are complete with this chunk. Throws SpdyError. */
  *push(chunk: Buffer): Generator<Frame> {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    for (;;) {
      const frame = this.open ? this.dataPiece() : this.nextFrame();
      if (frame === 'incomplete') return;
      if (frame) yield frame;
    }
  }

  /** Undefined for the head of a data frame. */
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
    if ((first & ~controlBit) !== version) throw new SpdyError('a frame of another version');
    if (length > controlFrameBytesMax) throw new SpdyError('a control frame is too long');
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

/** The head; the data follows it. */
export function dataFrameHead(streamId: number, byteCount: number, fin: boolean): Buffer {
  const head = Buffer.allocUnsafe(headBytes);
  head.writeUInt32BE(streamId, 0);
  head[4] = fin ? flagFin : 0;
  head.writeUIntBE(byteCount, 5, 3);
  return head;
}

/** Payloads that are nothing but numbers of 32 bits. */
export function numbers(...values: number[]): Buffer {
  const payload = Buffer.allocUnsafe(values.length * 4);
  for (const [index, value] of values.entries()) payload.writeUInt32BE(value, index * 4);
  return payload;
}

/** A stream's id at `offset`. Throws SpdyError for a payload that is too short. */
export function streamIdAt(payload: Buffer, offset = 0): number {
  if (payload.length < offset + 4) throw new SpdyError('a control frame is too short');
  return payload.readUInt32BE(offset) & 0x7fff_ffff;
}
