import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Endpoint, EndpointPicker, endpointKey } from './endpoint-picker.js';

const endpoint = (number: number): Endpoint => ({ ip: `10.0.0.${number}`, port: 80 });

describe('EndpointPicker', () => {
  it('selects endpoints round-robin', () => {
    const picker = new EndpointPicker();
    picker.update([endpoint(2), endpoint(1), endpoint(3)], undefined);
    const ips = Array.from({ length: 6 }, () => picker.pick('c', 0)?.ip.at(-1));
    expect(ips).toEqual(['1', '2', '3', '1', '2', '3']);
  });

  it('continues at the same position when the set changes', () => {
    const picker = new EndpointPicker();
    picker.update([endpoint(1), endpoint(2), endpoint(3)], undefined);
    picker.pick('c', 0);
    picker.update([endpoint(1), endpoint(3), endpoint(4)], undefined);
    expect(picker.pick('c', 0)).toEqual(endpoint(3));
    picker.update([], undefined);
    expect(picker.pick('c', 0)).toBeUndefined();
    picker.update([endpoint(9)], undefined);
    expect(picker.pick('c', 0)).toEqual(endpoint(9));
  });

  it('skips excluded endpoints', () => {
    const picker = new EndpointPicker();
    picker.update([endpoint(1), endpoint(2)], 60_000);
    const first = picker.pick('c', 0)!;
    const second = picker.pick('c', 0, new Set([endpointKey(first)]))!;
    expect(second).not.toEqual(first);
    expect(picker.pick('c', 0)).toEqual(second);
    const both = new Set([endpointKey(first), endpointKey(second)]);
    expect(picker.pick('c', 0, both)).toBeUndefined();
  });

  it('selects the same endpoint for a client until the affinity expires', () => {
    const picker = new EndpointPicker();
    picker.update([endpoint(1), endpoint(2), endpoint(3)], 1_000);
    const first = picker.pick('a', 0);
    expect(picker.pick('b', 0)).not.toEqual(first);
    expect(picker.pick('a', 900)).toEqual(first);
    expect(picker.pick('a', 1_900)).toEqual(first);
    expect(picker.pick('a', 3_000)).not.toEqual(first);
  });

  it('selects only endpoints of the set, and balances connections evenly', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 8 }), {
          minLength: 1,
          maxLength: 10,
        }),
        fc.boolean(),
        (sets, sticky) => {
          const picker = new EndpointPicker();
          for (const numbers of sets) {
            picker.update(numbers.map(endpoint), sticky ? 60_000 : undefined);
            const counts = new Map<string, number>();
            for (let turn = 0; turn < numbers.length * 3; turn += 1) {
              const picked = picker.pick(`client-${turn}`, turn);
              expect(picked && numbers.includes(Number(picked.ip.split('.')[3]))).toBe(true);
              counts.set(picked!.ip, (counts.get(picked!.ip) ?? 0) + 1);
            }
            if (!sticky) for (const count of counts.values()) expect(count).toBe(3);
            if (numbers.length === 0) expect(picker.pick('c', 0)).toBeUndefined();
          }
        },
      ),
    );
  });
});
