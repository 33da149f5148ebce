/**
 * The metrics of one process: a registry of its own with process and event-loop-delay metrics and the
 * build's version, and helpers that give the same metric back when it is asked for twice. Rendering is
 * the text exposition format.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { dialect } from '../dialect/dialect.js';
import { interfaceVersion, orchVersion } from '../version.js';

export interface MetricSpec<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /** ALPHA when left out: it may change or go at any release. */
  readonly stability?: 'ALPHA' | 'STABLE';
}

export interface HistogramSpec<Label extends string> extends MetricSpec<Label> {
  /** Upper bounds in ascending order, in the metric's unit. */
  readonly buckets?: readonly number[];
}

export class Metrics {
  readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: 10 });
    const build = this.gauge({
      name: `${dialect().word}_build_info`,
      help: 'Version of the running build, always 1',
      labels: ['major', 'minor', 'git_version', 'build_version', 'runtime_version', 'platform'],
    });
    build.set(
      {
        major: interfaceVersion.major,
        minor: interfaceVersion.minor,
        git_version: interfaceVersion.git,
        build_version: orchVersion,
        runtime_version: process.version,
        platform: `${process.platform}/${process.arch}`,
      },
      1,
    );
  }

  /** `collect` runs before the counter is rendered. */
  counter<Label extends string = never>(
    spec: MetricSpec<Label> & { readonly collect?: () => void },
  ): Counter<Label> {
    const { collect } = spec;
    return (
      this.known<Counter<Label>>(spec.name) ??
      new Counter({ ...this.configuration(spec), ...(collect && { collect }) })
    );
  }

  gauge<Label extends string = never>(
    spec: MetricSpec<Label> & { readonly collect?: (gauge: Gauge<Label>) => void },
  ): Gauge<Label> {
    const { collect } = spec;
    return (
      this.known<Gauge<Label>>(spec.name) ??
      new Gauge({
        ...this.configuration(spec),
        ...(collect && {
          collect(this: Gauge<Label>) {
            collect(this);
          },
        }),
      })
    );
  }

  histogram<Label extends string = never>(spec: HistogramSpec<Label>): Histogram<Label> {
    return (
      this.known<Histogram<Label>>(spec.name) ??
      new Histogram({
        ...this.configuration(spec),
        ...(spec.buckets && { buckets: [...spec.buckets] }),
      })
    );
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  render(): Promise<string> {
    return this.registry.metrics();
  }

  private configuration<Label extends string>(spec: MetricSpec<Label>) {
    return {
      name: spec.name,
      help: `[${spec.stability ?? 'ALPHA'}] ${spec.help}`,
      labelNames: [...(spec.labels ?? [])],
      registers: [this.registry],
    };
  }

  private known<T>(name: string): T | undefined {
    return this.registry.getSingleMetric(name) as T | undefined;
  }
}

/** `count` bounds from `start`, each `factor` times the one before. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => start * factor ** index);
}
