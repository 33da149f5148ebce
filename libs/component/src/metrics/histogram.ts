/** Histograms: an observation increments one bucket; rendering computes the cumulative counts. */
import { Family, type FamilySpec, type LabelValues, type RenderedValue } from './family.js';

/** Upper bounds in seconds for metrics without buckets of their own. */
const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export class HistogramSeries {
  readonly counts: number[];
  sum = 0;
  count = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = bounds.map(() => 0);
  }

  /** Records `value`, in the unit of the metric, `times` times. */
  observe(value: number, times = 1): void {
    this.sum += value * times;
    this.count += times;
    const { bounds } = this;
    for (let index = 0; index < bounds.length; index += 1) {
      if (value > bounds[index]!) continue;
      this.counts[index]! += times;
      return;
    }
  }
}

export class Histogram<Label extends string = never> extends Family<Label, HistogramSeries> {
  readonly type = 'histogram';
  private readonly bounds: readonly number[];
  private readonly boundTexts: readonly string[];

  constructor(spec: FamilySpec<Label> & { readonly buckets?: readonly number[] | undefined }) {
    super(spec);
    this.bounds = spec.buckets ?? defaultBuckets;
    this.boundTexts = this.bounds.map(boundText);
  }

  /** Records a value in the series of `labels`; a histogram without labels takes only the value. */
  observe(
    ...args: [Label] extends [never] ? [value: number] : [labels: LabelValues<Label>, value: number]
  ) {
    const [first, second] = args as [LabelValues<Label> | number, number?];
    if (typeof first === 'object') this.labels(first).observe(second!);
    else this.unlabelled().observe(first);
  }

  protected create(): HistogramSeries {
    return new HistogramSeries(this.bounds);
  }

  protected render(series: HistogramSeries, sharedLabels: LabelValues<Label>): RenderedValue[] {
    const { name } = this;
    let below = 0;
    const buckets = this.boundTexts.map((le, index) => {
      below += series.counts[index]!;
      return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { le: '+Inf' }, sharedLabels, value: series.count },
      { metricName: `${name}_sum`, labels: {}, sharedLabels, value: series.sum },
      { metricName: `${name}_count`, labels: {}, sharedLabels, value: series.count },
    ];
  }
}

/** Formats a bound as dashboards expect: an exponent of two digits from 1e6 up and below 1e-4. */
function boundText(bound: number): string {
  if (bound === 0 || (bound >= 1e-4 && bound < 1e6)) return String(bound);
  return bound.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}

/** Returns `count` bounds that begin at `start` and grow by `factor`. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = [];
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound);
  return bounds;
}
