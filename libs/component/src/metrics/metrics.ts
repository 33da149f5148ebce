/**
 * The metrics of one process: a registry with process and event-loop-delay metrics and the version
 * of the build. A metric that is requested twice is created once. `render` returns the text
 * exposition format. A hidden metric records values but is not rendered.
 */

import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { dialect } from '../dialect/dialect.js';
import { knownKeys } from '../keys.js';
import { buildInfo } from '../version.js';
import { Counter } from './counter.js';
import { helpText, isHidden, type Stability } from './deprecation.js';
import { registerEventLoopLag } from './event-loop-lag.js';
import { Histogram } from './histogram.js';
import { Summary } from './summary.js';

export type { Gauge };

export interface MetricSpec<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** ALPHA by default: the metric may change or disappear in any release. */
  readonly stability?: Stability;
  /** The upstream release, `major.minor.patch`, that deprecated it. */
  readonly deprecatedSince?: string;
}

export interface HistogramSpec<Label extends string> extends MetricSpec<Label> {
  /** Upper bounds in ascending order, in the metric's unit. */
  readonly buckets?: readonly number[];
}

/**
 * Default metrics that are left out: delays of the event loop, which have their own sampler, and
 * counts of handles, which block the event loop for 30 to 40 ms with 10,000 connections.
 */
const costlyMetrics = /^nodejs_(eventloop_lag|active)_/;

export class Metrics {
  readonly registry = new Registry();
  private readonly byName = new Map<string, object>();

  /** `shownRelease`: the release whose hidden metrics are shown; empty for none. */
  constructor(private readonly shownRelease = '') {
    // Its sampler of the event loop cannot be disabled: with the longest period it never runs.
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 2 ** 31 - 1 });
    for (const { name } of this.registry.getMetricsAsArray()) {
      if (costlyMetrics.test(name)) this.registry.removeSingleMetric(name);
    }
    registerEventLoopLag(this.registry);
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
      labels: knownKeys(info),
    }).set(info, 1);
  }

  counter<Label extends string = never>(spec: MetricSpec<Label>): Counter<Label> {
    return this.findOrCreate(spec, (family) => new Counter<Label>(family));
  }

  histogram<Label extends string = never>(spec: HistogramSpec<Label>): Histogram<Label> {
    const { buckets } = spec;
    return this.findOrCreate(spec, (family) => new Histogram<Label>({ ...family, buckets }));
  }

  summary<Label extends string = never>(spec: MetricSpec<Label>): Summary<Label> {
    return this.findOrCreate(spec, (family) => new Summary<Label>(family));
  }

  /** Creates a gauge; `collect` runs before each rendering. */
  gauge<Label extends string = never>(
    spec: MetricSpec<Label> & { readonly collect?: (gauge: Gauge<Label>) => void },
  ): Gauge<Label> {
    const { collect } = spec;
    return this.findOrCreate(
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

  private findOrCreate<Label extends string, T extends object>(
    { name, help, labels = [], stability = 'ALPHA', deprecatedSince }: MetricSpec<Label>,
    create: (family: { name: string; help: string; labels: readonly Label[] }) => T,
  ): T {
    const existing = this.byName.get(name);
    if (existing) return existing as T;
    const created = create({ name, labels, help: helpText(help, stability, deprecatedSince) });
    this.byName.set(name, created);
    if (!isHidden(deprecatedSince, stability, this.shownRelease)) {
      // The registry uses only `name` and `getForPromString`, although its types demand more.
      this.registry.registerMetric(created as unknown as Metric);
    }
    return created;
  }
}
