/** Summaries: count, sum and the quantiles of the latest observations. */
import { Family, type LabelValues, type RenderedValue } from './family.js';

const quantiles = [0.5, 0.9, 0.99];
/**
 * Observations that quantiles are computed of. Higher: steadier values. Lower: faster reaction to a
 * change.
 */
const recentCountMax = 1_024;

export class SummarySeries {
  private readonly recent = new Float64Array(recentCountMax);
  sum = 0;
  count = 0;

  /** Records `value`, in the unit of the metric. */
  observe(value: number): void {
    this.recent[this.count % recentCountMax] = value;
    this.sum += value;
    this.count += 1;
  }

  /** Returns the latest observations in ascending order. */
  sorted(): Float64Array {
    return this.recent.slice(0, Math.min(this.count, recentCountMax)).sort();
  }
}

export class Summary<Label extends string = never> extends Family<Label, SummarySeries> {
  readonly type = 'summary';

  protected create(): SummarySeries {
    return new SummarySeries();
  }

  protected render(series: SummarySeries, sharedLabels: LabelValues<Label>): RenderedValue[] {
    const { name } = this;
    const sorted = series.sorted();
    const values = quantiles.map((quantile) => ({
      metricName: name,
      labels: { quantile: String(quantile) },
      sharedLabels,
      value: sorted[Math.ceil(quantile * sorted.length) - 1] ?? Number.NaN,
    }));
    return [
      ...values,
      { metricName: `${name}_sum`, labels: {}, sharedLabels, value: series.sum },
      { metricName: `${name}_count`, labels: {}, sharedLabels, value: series.count },
    ];
  }
}
