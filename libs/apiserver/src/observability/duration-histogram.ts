/**
 * A histogram for hot paths: a series is found once and kept by its user, and observing it is a look at
 * a few bounds and two additions. Rendered as any other histogram of the registry.
 */
import { Histogram, type HistogramConfiguration } from 'prom-client';

interface RenderedValue {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export class DurationSeries {
  private readonly counts: number[];
  private sum = 0;
  private count = 0;

  constructor(
    private readonly bounds: readonly number[],
    private readonly labelValues: Readonly<Record<string, string>>,
  ) {
    this.counts = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    this.sum += seconds;
    this.count += 1;
    const { bounds } = this;
    for (let index = 0; index < bounds.length; index += 1) {
      if (seconds > bounds[index]!) continue;
      this.counts[index]! += 1;
      return;
    }
  }

  render(name: string): RenderedValue[] {
    const { labelValues, sum, count } = this;
    let below = 0;
    const buckets = this.bounds.map((bound, index) => {
      below += this.counts[index]!;
      return { metricName: `${name}_bucket`, labels: { le: bound, ...labelValues }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labelValues }, value: count },
      { metricName: `${name}_sum`, labels: labelValues, value: sum },
      { metricName: `${name}_count`, labels: labelValues, value: count },
    ];
  }
}

export class DurationHistogram extends Histogram<string> {
  private readonly byLabels = new Map<string, DurationSeries>();
  private readonly text: { readonly name: string; readonly help: string };
  private readonly bounds: readonly number[];

  constructor(configuration: HistogramConfiguration<string> & { readonly buckets: number[] }) {
    super(configuration);
    this.text = { name: configuration.name, help: configuration.help };
    this.bounds = configuration.buckets;
  }

  /** The series of these labels, which the caller keeps. */
  series(labelValues: Readonly<Record<string, string>>): DurationSeries {
    const key = Object.values(labelValues).join('\n');
    let series = this.byLabels.get(key);
    if (!series) {
      series = new DurationSeries(this.bounds, labelValues);
      this.byLabels.set(key, series);
    }
    return series;
  }

  /** What the registry renders. */
  async getForPromString() {
    const { name, help } = this.text;
    const values = [...this.byLabels.values()].flatMap((series) => series.render(name));
    return { name, help, type: 'histogram', values, aggregator: 'sum' };
  }
}
