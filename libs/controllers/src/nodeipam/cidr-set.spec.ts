import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CidrSet } from './cidr-set.js';

const part = (index: number) => `10.0.${index}.0/24`;

/** Parts of 10.0.0.0/21 as a list of how often each is occupied. */
class NaiveSet {
  readonly counts = Array.from({ length: 8 }, () => 0);
  next = 0;

  private overlapping(cidr: string): number[] {
    const [, third = 0, prefix = 0] = /^10\.0\.(\d+)\.0\/(\d+)$/.exec(cidr)!.map(Number);
    const size = prefix >= 24 ? 1 : 2 ** (24 - prefix);
    const first = third - (third % size);
    return [...this.counts.keys()].filter((index) => index >= first && index < first + size);
  }

  change(cidr: string, by: number): boolean {
    const indexes = this.overlapping(cidr);
    for (const index of indexes) this.counts[index]! += by;
    return indexes.length > 0;
  }

  allocate(): string | undefined {
    const order = [...this.counts.keys()].map((index) => (index + this.next) % 8);
    const index = order.find((candidate) => this.counts[candidate] === 0);
    if (index === undefined) return undefined;
    this.counts[index] = 1;
    this.next = (index + 1) % 8;
    return part(index);
  }
}

describe('CidrSet', () => {
  it('behaves as a naive model', () => {
    const cidr = fc
      .record({ third: fc.nat(15), prefix: fc.constantFrom(20, 21, 22, 23, 24, 26) })
      .map(({ third, prefix }) => `10.0.${third}.0/${prefix}`);
    const action = fc.oneof(
      fc.constant({ kind: 'allocate' as const }),
      cidr.map((text) => ({ kind: 'occupy' as const, text })),
      fc.nat(20).map((index) => ({ kind: 'release' as const, index })),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const set = new CidrSet('10.0.0.0/21', 24);
        const naive = new NaiveSet();
        const held: string[] = [];
        for (const one of actions) {
          if (one.kind === 'allocate') {
            const expected = naive.allocate();
            expect(set.allocate()?.cidr).toBe(expected);
            if (expected) held.push(expected);
          } else if (one.kind === 'occupy') {
            expect(set.occupy(one.text)).toBe(naive.change(one.text, 1));
            held.push(one.text);
          } else if (held.length > 0) {
            const [released = ''] = held.splice(one.index % held.length, 1);
            expect(set.release(released)).toBe(naive.change(released, -1));
          }
          expect(set.usedCount).toBe(naive.counts.filter((count) => count > 0).length);
        }
      }),
    );
  });

  it('allocates all parts of a range once, then none', () => {
    const set = new CidrSet('10.0.0.5/22', 24);
    const all = Array.from({ length: 4 }, () => set.allocate()?.cidr);
    expect(all).toEqual([part(0), part(1), part(2), part(3)]);
    expect(set.allocate()).toBeUndefined();
    set.release(part(2));
    expect(set.allocate()).toEqual({ cidr: part(2), triedCount: 2 });
  });

  it.each([
    ['fd00::/48', 64, ['fd00::/64', 'fd00:0:0:1::/64']],
    ['2001:db8::/63', 64, ['2001:db8::/64', '2001:db8:0:1::/64']],
    ['0.0.0.0/0', 1, ['0.0.0.0/1', '128.0.0.0/1']],
    ['255.255.255.0/24', 25, ['255.255.255.0/25', '255.255.255.128/25']],
  ])('allocates from %s', (cidr, prefix, expected) => {
    const set = new CidrSet(cidr, prefix);
    expect([set.allocate()?.cidr, set.allocate()?.cidr]).toEqual(expected);
  });

  it('ignores ranges of another family', () => {
    expect(new CidrSet('10.0.0.0/8', 24).occupy('fd00::/8')).toBe(false);
  });

  it('rejects the release of a range that is not occupied', () => {
    expect(() => new CidrSet('10.0.0.0/8', 24).release('10.0.0.0/24')).toThrow('not occupied');
  });
});
