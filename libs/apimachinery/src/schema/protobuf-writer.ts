/**
 * Protobuf output, written last to first: the length of a message is known once its members are
 * written, so no measuring pass is needed. Grows up to a limit. One message at a time; not
 * re-entrant.
 */
import { protobufBytesMax, protobufScratchBytesMax } from '../limits.js';
import { SchemaError, wrongType } from './schema-error.js';

const shortStringMax = 48;

export class ProtobufWriter {
  private buffer = Buffer.allocUnsafeSlow(16 * 1024);
  private position = this.buffer.length;

  /** Bytes written so far. */
  get length(): number {
    return this.buffer.length - this.position;
  }

  /** Returns a copy of the output and resets the writer. */
  take(): Buffer {
    const result = Buffer.from(this.buffer.subarray(this.position));
    this.reset();
    return result;
  }

  reset(): void {
    if (this.buffer.length > protobufScratchBytesMax) {
      this.buffer = Buffer.allocUnsafeSlow(protobufScratchBytesMax);
    }
    this.position = this.buffer.length;
  }

  /** Field number and wire type combined. */
  tag(tag: number): void {
    if (tag >= 0x80 || this.position === 0) {
      this.varint(tag);
      return;
    }
    this.position -= 1;
    this.buffer[this.position] = tag;
  }

  /** Writes the length of the output since `length` was `mark`. */
  prefix(mark: number): void {
    this.varint(this.buffer.length - this.position - mark);
  }

  /** A whole number from 0 to 2^32 - 1. */
  varint(value: number): void {
    if (this.position < 5) this.grow(5);
    if (value < 0x80) {
      this.position -= 1;
      this.buffer[this.position] = value;
      return;
    }
    const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
    this.position -= size;
    let rest = value;
    let at = this.position;
    while (rest >= 0x80) {
      this.buffer[at] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
      at += 1;
    }
    this.buffer[at] = rest;
  }

  /** int32 and int64; negative numbers take ten bytes. */
  int(value: unknown): void {
    if (typeof value !== 'number' || !Number.isInteger(value)) throw wrongType('an integer', value);
    if (value >= 0 && value <= 0xffffffff) this.varint(value);
    else this.bigInt(BigInt(value));
  }

  bigInt(value: bigint): void {
    let rest = BigInt.asUintN(64, value);
    const bytes: number[] = [];
    while (rest >= 0x80n) {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    bytes.push(Number(rest));
    if (this.position < bytes.length) this.grow(bytes.length);
    this.position -= bytes.length;
    this.buffer.set(bytes, this.position);
  }

  bool(value: unknown): void {
    if (typeof value !== 'boolean') throw wrongType('a boolean', value);
    this.varint(value ? 1 : 0);
  }

  double(value: unknown): void {
    if (typeof value !== 'number') throw wrongType('a number', value);
    if (this.position < 8) this.grow(8);
    this.position -= 8;
    this.buffer.writeDoubleLE(value, this.position);
  }

  /** Text with its length. */
  string(value: unknown): void {
    if (typeof value !== 'string') throw wrongType('a string', value);
    if (value.length <= shortStringMax && this.shortString(value)) return;
    const length = Buffer.byteLength(value);
    if (this.position < length) this.grow(length);
    this.position -= length;
    this.buffer.write(value, this.position, length, 'utf8');
    this.varint(length);
  }

  /** Writes ASCII text whose length takes one byte; returns false if it is not ASCII. */
  private shortString(value: string): boolean {
    const length = value.length;
    if (this.position <= length) this.grow(length + 1);
    const { buffer } = this;
    const start = this.position - length;
    for (let index = 0; index < length; index += 1) {
      const code = value.charCodeAt(index);
      if (code > 0x7f) return false;
      buffer[start + index] = code;
    }
    buffer[start - 1] = length;
    this.position = start - 1;
    return true;
  }

  /** Bytes with their length, given as base64 text. */
  base64(value: unknown): void {
    if (typeof value !== 'string') throw wrongType('base64 text', value);
    this.bytes(Buffer.from(value, 'base64'));
  }

  bytes(value: Uint8Array): void {
    if (this.position < value.length) this.grow(value.length);
    this.position -= value.length;
    this.buffer.set(value, this.position);
    this.varint(value.length);
  }

  /** Makes room for `count` bytes. Callers check first, without a call. */
  private grow(count: number): void {
    const used = this.length;
    if (used + count > protobufBytesMax) throw new SchemaError('object is too large for protobuf');
    const capacity = Math.min(Math.max(this.buffer.length * 2, used + count), protobufBytesMax);
    const grown = Buffer.allocUnsafeSlow(capacity);
    this.buffer.copy(grown, capacity - used, this.position);
    this.buffer = grown;
    this.position = capacity - used;
  }
}
