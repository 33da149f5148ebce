import { expect, it } from 'vitest';
import { alignedDelayMs } from './clock.js';

const delayAt = (nowMs: number, phaseMs?: number) =>
  alignedDelayMs({ monotonicMs: () => nowMs }, 1_000, phaseMs);

it('an aligned delay ends at a multiple of the period, and at the next but one if that is near', () => {
  expect([0, 1, 500, 875].map((nowMs) => delayAt(nowMs))).toEqual([1_000, 999, 500, 125]);
  expect([876, 999.5].map((nowMs) => delayAt(nowMs))).toEqual([1_124, 1_000.5]);
});

it('a phase moves the moments of an aligned delay', () => {
  expect(delayAt(5_300, 300)).toBe(1_000);
  expect(delayAt(5_800, 300)).toBe(500);
});
