/**
 * The superseded versions of one key, oldest first, and its tombstones: all that exact reads need
 * beside the live entry. Packed into plain numbers, since minutes of history at full load are
 * millions of versions: revision * 1024 + position, negative for a tombstone, then its bytes.
 */
import { OPERATIONS_MAX } from '../limits.js';

/** Names a version: where its record lies in the state database. */
export interface VersionName {
  readonly revision: number;
  readonly position: number;
}

export interface DroppedVersion extends VersionName {
  readonly byteCount: number;
}

const SLOTS = 2;
const COMPACT_HEAD = 64;

export class Versions {
  #packed: number[] = [];
  #head = 0;

  get isEmpty(): boolean {
    return this.#head === this.#packed.length;
  }

  append(name: VersionName, byteCount: number, tombstone: boolean): void {
    const packed = name.revision * OPERATIONS_MAX + name.position;
    this.#packed.push(tombstone ? -packed : packed, byteCount);
  }

  dropOldest(): DroppedVersion {
    const packed = Math.abs(this.#packed[this.#head]!);
    const byteCount = this.#packed[this.#head + 1]!;
    this.#head += SLOTS;
    if (this.#head >= COMPACT_HEAD && this.#head * 2 >= this.#packed.length) {
      this.#packed = this.#packed.slice(this.#head);
      this.#head = 0;
    }
    return { ...unpack(packed), byteCount };
  }

  /** The newest version at or below `revision`; undefined when there is none or it is a tombstone. */
  at(revision: number): VersionName | undefined {
    const bound = (revision + 1) * OPERATIONS_MAX;
    let low = this.#head / SLOTS;
    let high = this.#packed.length / SLOTS;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Math.abs(this.#packed[middle * SLOTS]!) < bound) low = middle + 1;
      else high = middle;
    }
    if (low === this.#head / SLOTS) return undefined;
    const packed = this.#packed[(low - 1) * SLOTS]!;
    return packed < 0 ? undefined : unpack(packed);
  }
}

function unpack(packed: number): VersionName {
  const position = packed % OPERATIONS_MAX;
  return { revision: (packed - position) / OPERATIONS_MAX, position };
}
