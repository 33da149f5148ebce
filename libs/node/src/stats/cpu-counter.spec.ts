import { describe, expect, it } from 'vitest';
import { CpuCounter } from './cpu-counter.js';

const second = 1e9;
const freshMs = 15_000;

describe('CpuCounter', () => {
  it('computes the rate between the latest two samples', () => {
    const counter = new CpuCounter();
    counter.add({ monotonicMs: 0, coreNanoseconds: 100 * second }, 3_600_000, freshMs);
    expect(counter.usage).toEqual({ coreNanoseconds: 100 * second, nanoCores: undefined });
    counter.add({ monotonicMs: 10_000, coreNanoseconds: 105 * second }, 3_610_000, freshMs);
    expect(counter.usage).toEqual({ coreNanoseconds: 105 * second, nanoCores: second / 2 });
    counter.add({ monotonicMs: 20_000, coreNanoseconds: 105 * second }, 3_620_000, freshMs);
    expect(counter.usage).toEqual({ coreNanoseconds: 105 * second, nanoCores: 0 });
  });

  it('has a rate after the first sample of a subject that has just started', () => {
    const counter = new CpuCounter();
    counter.add({ monotonicMs: 0, coreNanoseconds: 2 * second }, 4_000, freshMs);
    expect(counter.usage.nanoCores).toBe(second / 2);
  });

  it('has no rate while the subject is too young for one', () => {
    const counter = new CpuCounter();
    counter.add({ monotonicMs: 0, coreNanoseconds: second }, 20, freshMs);
    expect(counter.usage.nanoCores).toBeUndefined();
  });

  it('never decreases when a process ends, and counts on from there', () => {
    const counter = new CpuCounter();
    counter.add({ monotonicMs: 0, coreNanoseconds: 10 * second }, 0, freshMs);
    counter.add({ monotonicMs: 10_000, coreNanoseconds: 4 * second }, 10_000, freshMs);
    expect(counter.usage).toEqual({ coreNanoseconds: 10 * second, nanoCores: 0 });
    counter.add({ monotonicMs: 20_000, coreNanoseconds: 5 * second }, 20_000, freshMs);
    expect(counter.usage).toEqual({ coreNanoseconds: 11 * second, nanoCores: second / 10 });
  });
});
