/**
 * The metrics of one process: a registry of its own with process and event-loop-delay metrics and the
 * build's version, and helpers that give the same metric back when it is asked for twice. Rendering is
 * the text exposition format. A hidden metric counts and is not rendered.
 */
import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { dialect } from '../dialect/dialect.js';
import { buildInfo } from '../version.js';
import { Counter } from './counter.js';
import { helpText, isHidden, type Stability } from './deprecation.js';
import { Histogram } from './histogram.js';
import { Summary } from './summary.js';

export type { Gauge };

export interface MetricSpec<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** ALPHA when left out: it may change or go at any release. */
  readonly stability?: Stability;
  /** Release of the interface, `major.minor.patch`, that deprecated it. */
  readonly deprecatedSince?: string;
}

export interface HistogramSpec<Label extends string> extends MetricSpec<Label> {
  /** Upper bounds in ascending order, in the metric's unit. */
  readonly buckets?: readonly number[];
}

export class Metrics {
  readonly registry = new Registry();
  private readonly byName = new Map<string, object>();

  /** `shownRelease`: the release whose metrics are served although this one hides them. */
  constructor(private readonly shownRelease = '') {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 10 });
    const { major, minor, ...build } = buildInfo();
    const info = {
      major,
      minor,
      build_date: build.buildDate,
      compiler: build.compiler,
      git_commit: build.gitCommit,
      git_tree_state: build.gitTreeState,
      git_version: build.gitVersion,
      go_version: build.goVersion,
      platform: build.platform,
    };
    this.gauge({
      name: `${dialect().word}_build_info`,
      help: 'Version of the running build, always 1.',
      labels: Object.keys(info) as (keyof typeof info)[],
    }).set(info, 1);
  }

  counter<Label extends string = never>(spec: MetricSpec<Label>): Counter<Label> {
    return this.known(spec, (family) => new Counter<Label>(family));
  }

  histogram<Label extends string = never>(spec: HistogramSpec<Label>): Histogram<Label> {
    const { buckets } = spec;
    return this.known(spec, (family) => new Histogram<Label>({ ...family, buckets }));
  }

  summary<Label extends string = never>(spec: MetricSpec<Label>): Summary<Label> {
    return this.known(spec, (family) => new Summary<Label>(family));
  }

  /** `collect` runs before the gauge is rendered. */
  gauge<Label extends string = never>(
    spec: MetricSpec<Label> & { readonly collect?: (gauge: Gauge<Label>) => void },
  ): Gauge<Label> {
    const { collect } = spec;
    return this.known(
      spec,
      ({ name, help, labels }) =>
        new Gauge({
          name,
          help,
          labelNames: [...labels],
          registers: [],
          ...(collect && {
            collect(this: Gauge<Label>) {
              collect(this);
            },
          }),
        }),
    );
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  render(): Promise<string> {
    return this.registry.metrics();
  }

  private known<Label extends string, T extends object>(
    { name, help, labels = [], stability = 'ALPHA', deprecatedSince }: MetricSpec<Label>,
    create: (family: { name: string; help: string; labels: readonly Label[] }) => T,
  ): T {
    const known = this.byName.get(name);
    if (known) return known as T;
    const made = create({ name, labels, help: helpText(help, stability, deprecatedSince) });
    this.byName.set(name, made);
    if (!isHidden(deprecatedSince, stability, this.shownRelease)) {
      // The registry asks for a name and for what to render, which its types do not say.
      this.registry.registerMetric(made as unknown as Metric);
    }
    return made;
  }
}
