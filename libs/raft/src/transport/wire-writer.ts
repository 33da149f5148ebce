/**
 * Writes protobuf's wire format into one buffer of the exact size. Sizes of nested messages are found in
 * a first pass and taken in the same order while writing, so that nothing is moved or copied twice.
 */

const BITS_7 = 0x80;
const BITS_32 = 0x1_0000_0000;

/** Sizes of nested messages in the order in which they will be written. */
export class Sizes {
  readonly #sizes: number[] = [];
  #next = 0;

  /** The place of a message whose size is known only after what it holds has been sized. */
  reserve(): number {
    return this.#sizes.push(0) - 1;
  }

  set(at: number, size: number): void {
    this.#sizes[at] = size;
  }

  next(): number {
    const size = this.#sizes[this.#next];
    if (size === undefined) throw new RangeError('more messages written than were sized');
    this.#next += 1;
    return size;
  }
}

export class WireWriter {
  #at = 0;

  constructor(
    readonly bytes: Buffer,
    readonly sizes: Sizes,
  ) {}

  get at(): number {
    return this.#at;
  }

  /** A whole number from 0 to 2^53 - 1, seven bits a byte. Throws RangeError for anything else. */
  uint(value: number): void {
    let rest = value;
    if (rest >= BITS_32) {
      while (rest >= BITS_32) {
        this.bytes[this.#at++] = (rest % BITS_7) | BITS_7;
        rest = Math.floor(rest / BITS_7);
      }
    }
    while (rest >= BITS_7) {
      this.bytes[this.#at++] = (rest & 0x7f) | BITS_7;
      rest >>>= 7;
    }
    this.bytes[this.#at++] = rest;
  }

  nextSize(): void {
    this.uint(this.sizes.next());
  }

  bool(value: boolean): void {
    this.bytes[this.#at++] = value ? 1 : 0;
  }

  fixed32(value: number): void {
    this.#at = this.bytes.writeUInt32LE(value, this.#at);
  }

  double(value: number): void {
    this.#at = this.bytes.writeDoubleLE(value, this.#at);
  }

  string(value: string): void {
    this.uint(Buffer.byteLength(value));
    this.#at += this.bytes.write(value, this.#at, 'utf8');
  }

  bytesOf(value: Uint8Array): void {
    this.uint(value.length);
    this.bytes.set(value, this.#at);
    this.#at += value.length;
  }
}

/** Bytes of a whole number; throws RangeError for what `WireWriter.uint` cannot write. */
export function uintSize(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${value} is no whole number from 0 to 2^53 - 1`);
  }
  let size = 1;
  let rest = value;
  while (rest >= BITS_32) {
    rest = Math.floor(rest / BITS_7);
    size += 1;
  }
  while (rest >= BITS_7) {
    rest >>>= 7;
    size += 1;
  }
  return size;
}

/** Bytes of `size` bytes with their length before them. */
export function lengthDelimitedSize(size: number): number {
  return uintSize(size) + size;
}
