import { describe, expect, it } from 'vitest';
import { sourceFilter } from './source-filter.js';

describe('sourceFilter', () => {
  it.each([
    [undefined, '192.0.2.1', true],
    [['192.0.2.0/24'], '192.0.2.1', true],
    [['192.0.2.0/24'], '::ffff:192.0.2.1', true],
    [['192.0.2.0/24'], '192.0.3.1', false],
    [['192.0.2.0/24'], 'fd00::1', false],
    [['192.0.2.0/24', 'fd00::/8'], 'fd00::1', true],
    [['0.0.0.0/0'], '192.0.3.1', true],
    [['x', '192.0.2.0', '192.0.2.0/', '192.0.2.0/33'], '192.0.2.0', false],
    [['0.0.0.0/0'], '', false],
  ])('with %j and client %s: %s', (ranges, client, expected) => {
    expect(sourceFilter(ranges)(client)).toBe(expected);
  });
});
