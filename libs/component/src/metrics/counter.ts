/** Counters: monotonically increasing values. */
import { Family, type LabelValues, type RenderedValue } from './family.js';

export class CounterSeries {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

export class Counter<Label extends string = never> extends Family<Label, CounterSeries> {
  readonly type = 'counter';

  /** Increments the series of `labels`; a counter without labels takes only the amount. */
  inc(
    ...args: [Label] extends [never] ? [by?: number] : [labels: LabelValues<Label>, by?: number]
  ) {
    const [first, second] = args as [(LabelValues<Label> | number)?, number?];
    if (typeof first === 'object') this.labels(first).inc(second);
    else this.unlabelled().inc(first);
  }

  protected create(): CounterSeries {
    return new CounterSeries();
  }

  protected render({ value }: CounterSeries, sharedLabels: LabelValues<Label>): RenderedValue[] {
    return [{ metricName: this.name, labels: {}, sharedLabels, value }];
  }
}
