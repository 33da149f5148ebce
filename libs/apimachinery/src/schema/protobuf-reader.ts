/**
 * Protobuf input. Every read is checked against the end of its message; malformed input throws
 * SchemaError. Unknown fields are skipped, including groups. One-byte tags and lengths, which are
 * the most frequent, are read without a call.
 */
import { objectDepthMax } from '../limits.js';
import { SchemaError } from './schema-error.js';

const two32 = 2 ** 32;

export class ProtobufReader {
  position = 0;
  /** End of the current message. */
  end: number;

  constructor(private readonly buffer: Buffer) {
    this.end = buffer.length;
  }

  /** Enters a nested message; returns the argument of `leave`. */
  enter(): number {
    const length = this.length();
    const outer = this.end;
    this.end = this.position + length;
    return outer;
  }

  leave(outer: number): void {
    if (this.position !== this.end) throw malformed('message is longer than its fields');
    this.end = outer;
  }

  tag(): number {
    let tag = this.position < this.end ? this.buffer[this.position]! : 0x80;
    if (tag >= 0x80) tag = this.longVarint();
    else this.position += 1;
    if (tag >>> 3 === 0) throw malformed('field number 0');
    return tag;
  }

  /** The low 32 bits of a varint, as an unsigned number. */
  varint(): number {
    const first = this.position < this.end ? this.buffer[this.position]! : 0x80;
    if (first >= 0x80) return this.longVarint();
    this.position += 1;
    return first;
  }

  private longVarint(): number {
    let result = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.position >= this.end) throw truncated();
      const byte = this.buffer[this.position]!;
      this.position += 1;
      if (shift < 32) result |= (byte & 0x7f) << shift;
      if (byte < 0x80) return result >>> 0;
    }
    throw malformed('number longer than ten bytes');
  }

  int32(): number {
    return this.varint() | 0;
  }

  /** Exact up to 2^53, the nearest number beyond. */
  int64(): number {
    const start = this.position;
    const low = this.varint();
    if (this.position - start <= 4) return low;
    const value = BigInt.asIntN(64, this.bigIntAt(start));
    return Number(value);
  }

  bigInt(): bigint {
    const start = this.position;
    this.varint();
    return BigInt.asIntN(64, this.bigIntAt(start));
  }

  private bigIntAt(start: number): bigint {
    let result = 0n;
    for (let at = this.position - 1; at >= start; at -= 1) {
      result = (result << 7n) | BigInt(this.buffer[at]! & 0x7f);
    }
    return result;
  }

  bool(): boolean {
    return this.int64() !== 0;
  }

  double(): number {
    this.need(8);
    this.position += 8;
    return this.buffer.readDoubleLE(this.position - 8);
  }

  string(): string {
    const length = this.length();
    if (length === 0) return '';
    this.position += length;
    return this.buffer.toString('utf8', this.position - length, this.position);
  }

  base64(): string {
    const length = this.length();
    this.position += length;
    return this.buffer.toString('base64', this.position - length, this.position);
  }

  /** A view, not a copy. */
  bytes(): Buffer {
    const length = this.length();
    this.position += length;
    return this.buffer.subarray(this.position - length, this.position);
  }

  /** Skips the value of an unknown field. */
  skip(tag: number, depth = 0): void {
    if (depth > objectDepthMax) throw malformed('groups nested too deeply');
    switch (tag & 7) {
      case 0:
        this.varint();
        return;
      case 1:
        this.need(8);
        this.position += 8;
        return;
      case 2:
        this.bytes();
        return;
      case 3:
        this.skipGroup(tag >>> 3, depth);
        return;
      case 5:
        this.need(4);
        this.position += 4;
        return;
      default:
        throw malformed(`wire type ${tag & 7}`);
    }
  }

  private skipGroup(number: number, depth: number): void {
    for (;;) {
      const tag = this.tag();
      if ((tag & 7) === 4) {
        if (tag >>> 3 !== number) throw malformed('end of another group');
        return;
      }
      this.skip(tag, depth + 1);
    }
  }

  private length(): number {
    const start = this.position;
    let length = start < this.end ? this.buffer[start]! : 0x80;
    if (length >= 0x80) length = this.longVarint();
    else this.position += 1;
    if (this.position - start > 5 || length >= two32) throw malformed('length out of range');
    if (this.position + length > this.end) throw truncated();
    return length;
  }

  private need(count: number): void {
    if (this.position + count > this.end) throw truncated();
  }
}

function malformed(what: string): SchemaError {
  return new SchemaError(`malformed protobuf: ${what}`);
}

function truncated(): SchemaError {
  return new SchemaError('malformed protobuf: unexpected end');
}
