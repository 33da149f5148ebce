/** Which node has which ranges. Pure. A node has one range of each set. */
import type { CidrSet } from './cidr-set.js';

export interface NodeAllocation {
  readonly ranges: readonly string[];
  /** The set of each range, with the parts found in use before it; empty if they existed. */
  readonly tries: readonly { readonly cidr: string; readonly triedCount: number }[];
}

export class NodeRanges {
  private readonly byNode = new Map<string, readonly string[]>();

  /** `reserved`: CIDRs that no node may have. */
  constructor(
    private readonly sets: readonly CidrSet[],
    reserved: readonly string[],
  ) {
    for (const cidr of reserved) {
      for (const set of sets) set.occupy(cidr);
    }
  }

  /** Occupies the ranges that a node has. @returns new ones that are outside of all sets. */
  hold(node: string, ranges: readonly string[]): string[] {
    const old = this.byNode.get(node) ?? [];
    if (old.join() === ranges.join()) return [];
    const outside = ranges.filter((range) => !this.sets.some((set) => set.occupy(range)));
    this.byNode.set(node, ranges);
    this.releaseAll(old);
    return outside;
  }

  /** Returns the ranges of the node, allocated if it has none; undefined if a set has none left. */
  allocate(node: string): NodeAllocation | undefined {
    const held = this.byNode.get(node);
    if (held) return { ranges: held, tries: [] };
    const ranges: string[] = [];
    const tries: { cidr: string; triedCount: number }[] = [];
    for (const set of this.sets) {
      const allocation = set.allocate();
      if (!allocation) {
        this.releaseAll(ranges);
        return undefined;
      }
      ranges.push(allocation.cidr);
      tries.push({ cidr: set.cidr, triedCount: allocation.triedCount });
    }
    this.byNode.set(node, ranges);
    return { ranges, tries };
  }

  /** @returns whether the node had ranges. */
  free(node: string): boolean {
    const ranges = this.byNode.get(node);
    if (!ranges) return false;
    this.byNode.delete(node);
    this.releaseAll(ranges);
    return true;
  }

  private releaseAll(ranges: readonly string[]): void {
    for (const range of ranges) this.sets.some((set) => set.release(range));
  }
}
