/**
 * The parts of a CIDR, all of the same size, that nodes have. Pure. Parts are allocated
 * round-robin, so that one is reused as late as possible. A part that is occupied several times is
 * free after as many releases: two nodes with the same range do not free it for a third.
 */
import { invariant } from '@orch/component';
import ipaddr from 'ipaddr.js';

interface Block {
  readonly family: 'ipv4' | 'ipv6';
  readonly first: bigint;
  readonly last: bigint;
}

export interface Allocation {
  readonly cidr: string;
  /** Parts that were found in use before this one. */
  readonly triedCount: number;
}

export class CidrSet {
  /** Parts in the CIDR. */
  readonly partCount: number;
  private readonly block: Block;
  /** Bits of an address behind the prefix of a part. */
  private readonly hostBits: bigint;
  /** How often each part is occupied. */
  private readonly holderCounts: Uint32Array;
  private used = 0;
  private next = 0;

  /** `nodePrefix` must be at least the prefix of `cidr`. */
  constructor(
    readonly cidr: string,
    private readonly nodePrefix: number,
  ) {
    this.block = blockOf(cidr);
    const [, prefix] = ipaddr.parseCIDR(cidr);
    this.partCount = 2 ** (nodePrefix - prefix);
    this.hostBits = BigInt((this.block.family === 'ipv4' ? 32 : 128) - nodePrefix);
    this.holderCounts = new Uint32Array(this.partCount);
  }

  /** Parts that are not free. */
  get usedCount(): number {
    return this.used;
  }

  /** Occupies a free part; undefined if there is none. */
  allocate(): Allocation | undefined {
    if (this.used === this.partCount) return undefined;
    for (let triedCount = 0; triedCount < this.partCount; triedCount++) {
      const index = (this.next + triedCount) % this.partCount;
      if (this.holderCounts[index] !== 0) continue;
      this.next = (index + 1) % this.partCount;
      this.add(index);
      return { cidr: this.part(index), triedCount };
    }
    return undefined;
  }

  /** Occupies the parts that overlap `cidr`. @returns false if none does. */
  occupy(cidr: string): boolean {
    const range = this.indexRange(cidr);
    if (!range) return false;
    for (let index = range.first; index <= range.last; index++) this.add(index);
    return true;
  }

  /** Undoes one `occupy` or `allocate`. @returns false if no part overlaps `cidr`. */
  release(cidr: string): boolean {
    const range = this.indexRange(cidr);
    if (!range) return false;
    for (let index = range.first; index <= range.last; index++) this.remove(index);
    return true;
  }

  private add(index: number): void {
    if (this.holderCounts[index] === 0) this.used += 1;
    this.holderCounts[index] = (this.holderCounts[index] ?? 0) + 1;
  }

  private remove(index: number): void {
    const count = this.holderCounts[index] ?? 0;
    invariant(count > 0, 'a range is released that is not occupied');
    this.holderCounts[index] = count - 1;
    if (count === 1) this.used -= 1;
  }

  private indexRange(cidr: string): { first: number; last: number } | undefined {
    const other = blockOf(cidr);
    const { family, first, last } = this.block;
    if (other.family !== family || other.last < first || other.first > last) return undefined;
    const index = (address: bigint) => Number((address - first) >> this.hostBits);
    return {
      first: other.first <= first ? 0 : index(other.first),
      last: other.last >= last ? this.partCount - 1 : index(other.last),
    };
  }

  private part(index: number): string {
    const value = this.block.first + (BigInt(index) << this.hostBits);
    const byteCount = this.block.family === 'ipv4' ? 4 : 16;
    const bytes = Array.from({ length: byteCount }, (_, position) =>
      Number((value >> BigInt(8 * (byteCount - 1 - position))) & 0xffn),
    );
    return `${ipaddr.fromByteArray(bytes).toString()}/${this.nodePrefix}`;
  }
}

function blockOf(cidr: string): Block {
  const [address, prefix] = ipaddr.parseCIDR(cidr);
  const bytes = address.toByteArray();
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
  const size = 1n << BigInt(bytes.length * 8 - prefix);
  const first = value - (value % size);
  return { family: address.kind(), first, last: first + size - 1n };
}
