import { describe, expect, it } from 'vitest';
import { formatAge, formatMicroTime, formatTime, parseTime } from './time.js';

describe('times', () => {
  it('are UTC with whole seconds or microseconds', () => {
    expect(formatTime(1_700_000_000_987)).toBe('2023-11-14T22:13:20Z');
    expect(formatTime(1_700_000_000_000)).toBe('2023-11-14T22:13:20Z');
    expect(formatTime(1_699_999_999_999)).toBe('2023-11-14T22:13:19Z');
    expect(formatMicroTime(1_700_000_000_987)).toBe('2023-11-14T22:13:20.987000Z');
    expect(parseTime('2023-11-14T22:13:20Z')).toBe(1_700_000_000_000);
    expect(parseTime('today')).toBeUndefined();
  });
  it.each([
    [119, '119s'],
    [320, '5m20s'],
    [3600, '60m'],
    [5 * 3600 + 60, '5h1m'],
    [9 * 3600, '9h'],
    [3 * 86_400, '3d'],
    [30 * 86_400, '30d'],
    [800 * 86_400, '2y70d'],
  ])('an age of %d seconds is %s', (seconds, text) => {
    expect(formatAge(seconds * 1000)).toBe(text);
  });
});
