import { describe, expect, it } from 'vitest';
import { crc32c } from './crc32c.js';

describe('crc32c', () => {
  it('gives the published check values', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
    expect(crc32c(Buffer.alloc(0))).toBe(0);
  });

  it('continues over several buffers', () => {
    const whole = Buffer.from('a record that is split at an odd place');
    for (let cut = 0; cut <= whole.length; cut += 1) {
      expect(crc32c(whole.subarray(cut), crc32c(whole.subarray(0, cut)))).toBe(crc32c(whole));
    }
  });
});
