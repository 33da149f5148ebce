/**
 * A number relative to its limit, as histograms: its value at every tick of a fixed period, and its
 * highest and lowest value between ticks. Ticks are counted when the number changes or is rendered,
 * so that no timer runs.
 */
import type { HistogramSeries } from '@orch/component';
import { ratioSamplePeriodMs } from '../limits.js';

export interface RatioHistograms {
  readonly samples: HistogramSeries;
  readonly high: HistogramSeries;
  readonly low: HistogramSeries;
}

export class SampledRatio {
  private value = 0;
  private ratio = 0;
  private high = 0;
  private low = 0;
  private tick: number;

  constructor(
    private readonly histograms: RatioHistograms,
    private limit: number,
    nowMs: number,
  ) {
    this.tick = Math.floor(nowMs / ratioSamplePeriodMs);
  }

  set(value: number, nowMs: number): void {
    this.count(nowMs);
    this.value = value;
    this.ratio = value / this.limit;
    if (this.ratio > this.high) this.high = this.ratio;
    if (this.ratio < this.low) this.low = this.ratio;
  }

  /** The limit must be above zero. */
  setLimit(limit: number, nowMs: number): void {
    this.count(nowMs);
    this.limit = limit;
    this.set(this.value, nowMs);
  }

  /** Adds the samples since the last change. */
  count(nowMs: number): void {
    const tick = Math.floor(nowMs / ratioSamplePeriodMs);
    const passed = tick - this.tick;
    if (passed <= 0) return;
    this.tick = tick;
    const { samples, high, low } = this.histograms;
    samples.observe(this.ratio, passed);
    high.observe(this.high);
    low.observe(this.low);
    // Nothing changed between the other ticks.
    if (passed > 1) {
      high.observe(this.ratio, passed - 1);
      low.observe(this.ratio, passed - 1);
    }
    this.high = this.ratio;
    this.low = this.ratio;
  }
}
