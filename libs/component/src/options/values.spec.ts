import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatByteSize,
  formatDuration,
  parseBoolean,
  parseByteSize,
  parseDuration,
  parseHostPort,
  ValueError,
} from './values.js';

describe('durations', () => {
  it.each([
    ['15s', 15_000],
    ['1m30s', 90_000],
    ['8760h0m0s', 8760 * 3_600_000],
    ['100ms', 100],
    ['1.5h', 5_400_000],
    ['0', 0],
    ['-2s', -2_000],
  ])('reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '10', 's', '1x', '1s2', '1 s'])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow(ValueError);
  });

  it('are formatted as on the command line', () => {
    expect(formatDuration(120_000)).toBe('2m0s');
    expect(formatDuration(8760 * 3_600_000)).toBe('8760h0m0s');
    expect(formatDuration(100)).toBe('100ms');
    expect(formatDuration(1_500)).toBe('1.5s');
  });

  it('survive formatting and parsing', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms, 6);
      }),
    );
  });
});

describe('other values', () => {
  it('include sizes', () => {
    expect(parseByteSize('10Mi')).toBe(10_485_760);
    expect(parseByteSize('1G')).toBe(1e9);
    expect(formatByteSize(10_485_760)).toBe('10Mi');
    expect(() => parseByteSize('ten')).toThrow(ValueError);
  });

  it('include addresses', () => {
    expect(parseHostPort(':80')).toEqual({ host: '', port: 80 });
    expect(parseHostPort('[fd00::1]:443')).toEqual({ host: 'fd00::1', port: 443 });
    for (const bad of ['::1:80', 'a', 'a:99999', '[x]:1']) {
      expect(() => parseHostPort(bad)).toThrow(ValueError);
    }
  });

  it('include booleans', () => {
    expect(parseBoolean('True')).toBe(true);
    expect(parseBoolean('0')).toBe(false);
    expect(() => parseBoolean('yes')).toThrow(ValueError);
  });
});
