/** Counters. */
import { Family, type LabelValues, type RenderedValue } from './family.js';

export class CounterSeries {
  value = 0;

  inc(by = 1): void {
    this.value += by;
  }
}

export class Counter<Label extends string = never> extends Family<Label, CounterSeries> {
  readonly type = 'counter';

  /** For what is counted now and then; the labels may be left out where there are none. */
  inc(
    ...args: [Label] extends [never] ? [by?: number] : [labels: LabelValues<Label>, by?: number]
  ) {
    const [first, second] = args as [(LabelValues<Label> | number)?, number?];
    if (typeof first === 'object') this.labels(first).inc(second);
    else this.labels({} as LabelValues<Label>).inc(first);
  }

  protected create(): CounterSeries {
    return new CounterSeries();
  }

  protected render({ value }: CounterSeries, sharedLabels: LabelValues<Label>): RenderedValue[] {
    return [{ metricName: this.name, labels: {}, sharedLabels, value }];
  }
}
