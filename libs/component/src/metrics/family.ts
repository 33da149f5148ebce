/**
 * The base class of counters, histograms and summaries: one series for each combination of label
 * values. Callers on hot paths keep the series that `labels` returns, so that an increment is one
 * addition. The registry of prom-client renders the families like its own metrics.
 */

export type LabelValues<Label extends string> = Readonly<Record<Label, string>>;

/** One line of the exposition. */
export interface RenderedValue {
  readonly metricName: string;
  /** Labels of this line only; they precede those of the series. */
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

  /** Returns the series of these label values; creates it on first use. */
  labels(values: LabelValues<Label>): Series {
    let key = '';
    for (const label of this.labelNames) key += `${values[label]}\n`;
    const existing = this.series.get(key);
    if (existing) return existing[1];
    const created = this.create();
    this.series.set(key, [values, created]);
    return created;
  }

  /** The only series of a family without labels. */
  protected unlabelled(): Series {
    return this.labels({} as LabelValues<Label>);
  }

  /** Returns the samples of all series, as the registry of prom-client expects them. */
  async getForPromString() {
    const { name, help, type } = this;
    if (this.labelNames.length === 0) this.unlabelled();
    const values = [...this.series.values()].flatMap(([labels, series]) =>
      this.render(series, labels),
    );
    return { name, help, type, values, aggregator: 'sum' };
  }

  protected abstract create(): Series;
  protected abstract render(series: Series, labels: LabelValues<Label>): RenderedValue[];
}
