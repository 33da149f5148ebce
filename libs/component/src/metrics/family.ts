/**
 * What counters, histograms and summaries have in common: one series for each combination of label
 * values, found by `labels` and kept by whoever writes to it often, so that a count costs an addition and
 * an observation a look at a few numbers. Rendered by the registry of prom-client as its own metrics are.
 */

export type LabelValues<Label extends string> = Readonly<Record<Label, string>>;

/** One line of the exposition. */
export interface RenderedValue {
  readonly metricName: string;
  /** Of this line alone, before those of the series. */
  readonly labels: Readonly<Record<string, string>>;
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface FamilySpec<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
}

export abstract class Family<Label extends string, Series> {
  abstract readonly type: 'counter' | 'histogram' | 'summary';
  readonly name: string;
  readonly help: string;
  private readonly labelNames: readonly Label[];
  private readonly series = new Map<string, readonly [LabelValues<Label>, Series]>();

  constructor({ name, help, labels }: FamilySpec<Label>) {
    this.name = name;
    this.help = help;
    this.labelNames = labels;
  }

  /** The series of these label values, for the caller to keep where it is written to often. */
  labels(values: LabelValues<Label>): Series {
    const key = this.labelNames.map((label) => values[label]).join('\n');
    const known = this.series.get(key);
    if (known) return known[1];
    const made = this.create();
    this.series.set(key, [values, made]);
    return made;
  }

  /** What the registry renders. */
  async getForPromString() {
    const { name, help, type } = this;
    if (this.labelNames.length === 0) this.labels({} as LabelValues<Label>);
    const values = [...this.series.values()].flatMap(([labels, series]) =>
      this.render(series, labels),
    );
    return { name, help, type, values, aggregator: 'sum' };
  }

  protected abstract create(): Series;
  protected abstract render(series: Series, labels: LabelValues<Label>): RenderedValue[];
}
