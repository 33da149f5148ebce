/**
 * The superseded versions of one key, oldest first, and its tombstones: with the live entry, all
 * that exact reads need. Packed into plain numbers, because minutes of history at full load are
 * millions of versions: revision * 1024 + position, negative for a tombstone, then the byte count.
 */
import { invariant } from '@orch/component';
import { operationsMax } from '../limits.js';

/** Names a version: the key of its record in the state database. */
export interface VersionName {
  readonly revision: number;
  readonly position: number;
}

export interface DroppedVersion extends VersionName {
  readonly byteCount: number;
}

const slotCount = 2;
const compactHead = 64;

export class Versions {
  private packed: number[] = [];
  private head = 0;

  get isEmpty(): boolean {
    return this.head === this.packed.length;
  }

  append({ revision, position }: VersionName, byteCount: number, tombstone: boolean): void {
    invariant(position < operationsMax, 'the position of a version does not fit');
    invariant(byteCount >= 0, 'a version has fewer than no bytes');
    const packed = revision * operationsMax + position;
    invariant(Number.isSafeInteger(packed), 'the revision of a version does not fit');
    const newest = this.packed.length === 0 ? 0 : Math.abs(this.packed[this.packed.length - 2]!);
    invariant(packed > newest, 'a version is not newer than the one before');
    this.packed.push(tombstone ? -packed : packed, byteCount);
  }

  dropOldest(): DroppedVersion {
    invariant(!this.isEmpty, 'a version is dropped of a key that has none');
    const packed = Math.abs(this.packed[this.head]!);
    const byteCount = this.packed[this.head + 1]!;
    this.head += slotCount;
    if (this.head >= compactHead && this.head * 2 >= this.packed.length) {
      this.packed = this.packed.slice(this.head);
      this.head = 0;
    }
    invariant(this.head <= this.packed.length, 'more versions are dropped than were stored');
    return { ...unpack(packed), byteCount };
  }

  /** The newest version at or below `revision`; undefined if there is none or it is a tombstone. */
  at(revision: number): VersionName | undefined {
    const bound = (revision + 1) * operationsMax;
    let low = this.head / slotCount;
    let high = this.packed.length / slotCount;
    invariant(low <= high, 'the versions of a key begin after their end');
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Math.abs(this.packed[middle * slotCount]!) < bound) low = middle + 1;
      else high = middle;
    }
    if (low === this.head / slotCount) return undefined;
    const packed = this.packed[(low - 1) * slotCount]!;
    invariant(Math.abs(packed) < bound, 'a read finds a version of a later revision', { revision });
    return packed < 0 ? undefined : unpack(packed);
  }
}

function unpack(packed: number): VersionName {
  const position = packed % operationsMax;
  const revision = (packed - position) / operationsMax;
  invariant(position >= 0, 'a packed version has a negative position', { packed });
  invariant(revision > 0, 'a packed version has no revision', { packed });
  return { revision, position };
}
