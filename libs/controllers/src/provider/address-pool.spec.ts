import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressPool, parseAddressRange } from './address-pool.js';

const rangesOf = (...texts: string[]) => texts.map((text) => parseAddressRange(text)!);

describe('parseAddressRange', () => {
  it.each([
    ['192.0.2.1-192.0.2.3', 3],
    ['192.0.2.9/30', 4],
    ['192.0.2.1/32', 1],
  ])('%s', (text, count) => {
    const { first, last } = parseAddressRange(text)!;
    expect(last - first + 1).toBe(count);
  });

  it.each([
    '',
    'x',
    '192.0.2.1',
    '192.0.2.3-192.0.2.1',
    '1-2-3',
    '192.0.2.1/33',
    'fd00::/64',
    '1.2/8',
  ])('rejects %j', (text) => expect(parseAddressRange(text)).toBeUndefined());
});

describe('AddressPool', () => {
  it('gives each service the first free address, always the same', () => {
    const pool = new AddressPool(rangesOf('192.0.2.1-192.0.2.2', '192.0.2.255/32'));
    expect(pool.hold('b', '192.0.2.1')).toBe(true);
    expect(pool.allocate('a')).toBe('192.0.2.2');
    expect(pool.allocate('a')).toBe('192.0.2.2');
    expect(pool.allocate('c')).toBe('192.0.2.255');
    expect(pool.allocate('d')).toBeUndefined();
    expect(pool.free('a')).toBe(true);
    expect(pool.free('a')).toBe(false);
    expect(pool.allocate('d')).toBe('192.0.2.2');
  });

  it('gives an address to one service only, and a service one address', () => {
    const pool = new AddressPool(rangesOf('192.0.2.0/30'));
    expect(pool.hold('a', '192.0.2.1')).toBe(true);
    expect(pool.hold('b', '192.0.2.1')).toBe(false);
    expect(pool.hold('a', '192.0.2.9')).toBe(false);
    expect(pool.addressOf('a')).toBe('192.0.2.1');
    expect(pool.hold('a', '192.0.2.2')).toBe(true);
    expect(pool.holderOf('192.0.2.1')).toBeUndefined();
  });

  it('agrees with a naive model', () => {
    const addresses = ['192.0.2.0', '192.0.2.1', '192.0.2.2', '192.0.2.3'];
    const service = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const action = fc.oneof(
      service.map((name) => ({ kind: 'allocate' as const, name, address: '' })),
      service.map((name) => ({ kind: 'free' as const, name, address: '' })),
      fc
        .record({ name: service, address: fc.constantFrom(...addresses, '192.0.2.4') })
        .map((fields) => ({ kind: 'hold' as const, ...fields })),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const pool = new AddressPool(rangesOf('192.0.2.0/30'));
        const naive = new Map<string, string>();
        const holder = (address: string) => [...naive].find(([, held]) => held === address)?.[0];
        for (const { kind, name, address } of actions) {
          if (kind === 'allocate') {
            const free = naive.get(name) ?? addresses.find((one) => holder(one) === undefined);
            if (free) naive.set(name, free);
            expect(pool.allocate(name)).toBe(free);
          } else if (kind === 'free') {
            expect(pool.free(name)).toBe(naive.delete(name));
          } else {
            const isFree = addresses.includes(address) && holder(address) === undefined;
            const isHeld = naive.get(name) === address;
            expect(pool.hold(name, address)).toBe(isFree || isHeld);
            if (isFree) naive.set(name, address);
          }
          for (const one of addresses) expect(pool.holderOf(one)).toBe(holder(one));
        }
      }),
    );
  });
});
