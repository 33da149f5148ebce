import { describe, expect, it } from 'vitest';
import { AddressPool, loopbackAddress } from './address-pool.js';

describe('AddressPool', () => {
  it('allocates each address once, round-robin, and throws when all are in use', () => {
    const pool = new AddressPool('10.1.2.0/28');
    expect(pool.gateway).toBe('10.1.2.1');
    const all = Array.from({ length: pool.capacity }, () => pool.allocate());
    expect(new Set(all).size).toBe(13);
    expect(all[0]).toBe('10.1.2.2');
    expect(all.at(-1)).toBe('10.1.2.14');
    expect(() => pool.allocate()).toThrow('all 13 addresses of 10.1.2.0/28 are in use');
    pool.release('10.1.2.5');
    pool.release('10.1.2.3');
    expect(pool.allocate()).toBe('10.1.2.3');
    expect(pool.allocate()).toBe('10.1.2.5');
  });

  it('reserves addresses in use and continues after them', () => {
    const pool = new AddressPool('10.1.2.0/24');
    expect(pool.reserve('10.1.2.7')).toBe(true);
    expect(pool.reserve('10.1.2.7')).toBe(false);
    expect(pool.reserve('10.1.3.7')).toBe(false);
    expect(pool.reserve('10.1.2.1')).toBe(false);
    expect(pool.allocate()).toBe('10.1.2.8');
  });

  it('rejects invalid networks', () => {
    expect(() => new AddressPool('10.1.2.0')).toThrow('not an IPv4 network');
    expect(() => new AddressPool('10.0.0.0/8')).toThrow('must be /16 to /28');
    expect(() => new AddressPool('fd00::/64')).toThrow('not an IPv4 network');
  });

  it('maps each address to the loopback network', () => {
    expect(loopbackAddress('10.244.3.7')).toBe('127.244.3.7');
    expect(loopbackAddress('127.9.3.7')).toBe('127.9.3.7');
  });
});
