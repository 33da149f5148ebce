/**
 * Writes protobuf's wire format into one buffer of the exact size. Sizes of nested messages are
 * found in a first pass and taken in the same order while writing, so that nothing is moved or
 * copied twice.
 */

const bits7 = 0x80;
const bits32 = 0x1_0000_0000;

/** Sizes of nested messages in the order in which they will be written. */
export class Sizes {
  private readonly sizes: number[] = [];
  private position = 0;

  /** Reserves the size of a message, which is known only after its fields are measured. */
  reserve(): number {
    return this.sizes.push(0) - 1;
  }

  set(at: number, size: number): void {
    this.sizes[at] = size;
  }

  next(): number {
    const size = this.sizes[this.position];
    if (size === undefined) throw new RangeError('more messages written than were sized');
    this.position += 1;
    return size;
  }
}

export class WireWriter {
  private offset = 0;

  constructor(
    readonly bytes: Buffer,
    readonly sizes: Sizes,
  ) {}

  get at(): number {
    return this.offset;
  }

  /** A whole number from 0 to 2^53 - 1, seven bits a byte. Throws RangeError for anything else. */
  uint(value: number): void {
    let rest = value;
    if (rest >= bits32) {
      while (rest >= bits32) {
        this.bytes[this.offset++] = (rest % bits7) | bits7;
        rest = Math.floor(rest / bits7);
      }
    }
    while (rest >= bits7) {
      this.bytes[this.offset++] = (rest & 0x7f) | bits7;
      rest >>>= 7;
    }
    this.bytes[this.offset++] = rest;
  }

  nextSize(): void {
    this.uint(this.sizes.next());
  }

  bool(value: boolean): void {
    this.bytes[this.offset++] = value ? 1 : 0;
  }

  fixed32(value: number): void {
    this.offset = this.bytes.writeUInt32LE(value, this.offset);
  }

  double(value: number): void {
    this.offset = this.bytes.writeDoubleLE(value, this.offset);
  }

  string(value: string): void {
    this.uint(Buffer.byteLength(value));
    this.offset += this.bytes.write(value, this.offset, 'utf8');
  }

  bytesOf(value: Uint8Array): void {
    this.uint(value.length);
    this.bytes.set(value, this.offset);
    this.offset += value.length;
  }
}

/** Bytes of a whole number; throws RangeError for what `WireWriter.uint` cannot write. */
export function uintSize(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${value} is no whole number from 0 to 2^53 - 1`);
  }
  let size = 1;
  let rest = value;
  while (rest >= bits32) {
    rest = Math.floor(rest / bits7);
    size += 1;
  }
  while (rest >= bits7) {
    rest >>>= 7;
    size += 1;
  }
  return size;
}

/** Bytes of `size` bytes with their length before them. */
export function lengthDelimitedSize(size: number): number {
  return uintSize(size) + size;
}
