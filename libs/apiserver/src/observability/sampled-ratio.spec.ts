import { Metrics } from '@orch/component';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SampledRatio } from './sampled-ratio.js';

const buckets = [0, 0.25, 0.5, 0.75, 1];

const histogram = new Metrics().histogram({ name: 'h', help: '', labels: ['of', 'run'], buckets });
let runs = 0;

function newHistograms() {
  runs += 1;
  const series = (of: string) => histogram.labels({ of, run: String(runs) });
  return { samples: series('samples'), high: series('high'), low: series('low') };
}

it('counts every millisecond once, like a sampler with a timer', () => {
  const changes = fc.array(fc.record({ value: fc.nat(4), afterMs: fc.nat(5) }), { maxLength: 40 });
  fc.assert(
    fc.property(changes, (all) => {
      const found = newHistograms();
      const wanted = newHistograms();
      const ratio = new SampledRatio(found, 4, 0.5);
      let nowMs = 0.5;
      let value = 0;
      let [high, low] = [0, 0];
      for (const change of all) {
        for (let passed = 0; passed < change.afterMs; passed += 1) {
          nowMs += 1;
          wanted.samples.observe(value / 4);
          wanted.high.observe(high / 4);
          wanted.low.observe(low / 4);
          [high, low] = [value, value];
        }
        value = change.value;
        [high, low] = [Math.max(high, value), Math.min(low, value)];
        ratio.set(value, nowMs);
      }
      for (const name of ['samples', 'high', 'low'] as const) {
        expect(found[name].counts).toEqual(wanted[name].counts);
        expect(found[name].count).toBe(wanted[name].count);
        expect(found[name].sum).toBeCloseTo(wanted[name].sum);
      }
    }),
  );
});

it('follows its limit', () => {
  const histograms = newHistograms();
  const ratio = new SampledRatio(histograms, 4, 0);
  ratio.set(2, 0);
  ratio.setLimit(2, 10);
  ratio.count(15);
  expect(histograms.samples.counts).toEqual([0, 0, 10, 0, 5]);
});
