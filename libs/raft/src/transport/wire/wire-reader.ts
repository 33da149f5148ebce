/**
 * Reads protobuf's wire format. Bytes are slices of the received buffer: nothing is copied. Every
 * count and length is checked before use; an inconsistent one throws WireError.
 */
import { repeatedMax } from '../limits.js';
import type { Sizes, WireWriter } from './wire-writer.js';

/** The received bytes do not match the schema: their connection must be closed. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly code = 'WireError';
}

export interface Codec<Body> {
  size(from: Body, sizes: Sizes): number;
  write(from: Body, to: WireWriter): void;
  /** Reads up to `end`, which must be where the last field ends. */
  read(from: WireReader, end: number): Body;
}

const safeHighBits = 0x1f_ffff;
const bits32 = 0x1_0000_0000;

export class WireReader {
  at = 0;
  private end: number;

  constructor(readonly bytes: Buffer) {
    this.end = bytes.length;
  }

  tag(): number {
    const tag = this.uint();
    if (tag < 8 || tag >= bits32) throw new WireError(`no field has tag ${tag}`);
    return tag;
  }

  uint(): number {
    let low = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      low += (byte & 0x7f) << shift;
      if (byte < 0x80) return low;
    }
    let high = 0;
    const fifth = this.byte();
    low += (fifth & 0x0f) * 0x1000_0000;
    high = (fifth & 0x7f) >>> 4;
    if (fifth >= 0x80) {
      for (let shift = 3; ; shift += 7) {
        if (shift > 24) throw new WireError('a number is too long');
        const byte = this.byte();
        high += (byte & 0x7f) << shift;
        if (byte < 0x80) break;
      }
    }
    if (high > safeHighBits) throw new WireError('a number is above 2^53');
    return high * bits32 + low;
  }

  bool(): boolean {
    return this.uint() !== 0;
  }

  fixed32(): number {
    const at = this.take(4);
    return this.bytes.readUInt32LE(at);
  }

  double(): number {
    const at = this.take(8);
    return this.bytes.readDoubleLE(at);
  }

  string(): string {
    const length = this.uint();
    const at = this.take(length);
    return this.bytes.toString('utf8', at, at + length);
  }

  bytesOf(): Buffer {
    const length = this.uint();
    const at = this.take(length);
    return this.bytes.subarray(at, at + length);
  }

  enumValue<Value>(values: readonly Value[]): Value {
    const number = this.uint();
    const value = values[number];
    if (value === undefined) throw new WireError(`${number} is no value of its enum`);
    return value;
  }

  /** Where the nested message that begins here ends. */
  enter(): number {
    const length = this.uint();
    if (length > this.end - this.at) throw new WireError('a message is truncated');
    return this.at + length;
  }

  leave(end: number): void {
    if (this.at !== end) throw new WireError('a field goes beyond its message');
  }

  add<Value>(list: Value[], value: Value): void {
    if (list.length >= repeatedMax) throw new WireError(`more than ${repeatedMax} in one list`);
    list.push(value);
  }

  /** Over a field that is not known. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        while (this.byte() >= 0x80);
        return;
      case 1:
        this.take(8);
        return;
      case 2:
        this.take(this.uint());
        return;
      case 5:
        this.take(4);
        return;
      default:
        throw new WireError(`wire type ${tag & 7} is not used`);
    }
  }

  private byte(): number {
    if (this.at >= this.end) throw new WireError('a field is truncated');
    return this.bytes[this.at++]!;
  }

  private take(length: number): number {
    const at = this.at;
    if (length > this.end - at) throw new WireError('a field is truncated');
    this.at = at + length;
    return at;
  }
}
