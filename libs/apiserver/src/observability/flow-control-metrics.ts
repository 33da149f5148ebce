/**
 * Metrics of priority and fairness. Names, labels and buckets are the interface's. Requests of one
 * flow schema and priority level share their series. Executing and waiting requests of the level
 * that is never limited are not counted.
 */
import type { CounterSeries, Histogram, HistogramSeries, Metrics } from '@orch/component';
import type { RequestKind, RequestLimits } from '../http/request-gate.js';
import { filterDurations } from './request-metrics.js';
import { type RatioHistograms, SampledRatio } from './sampled-ratio.js';

const secondsBuckets = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];
const lengthBuckets = [0, 10, 25, 50, 100, 250, 500, 1_000];
const ratioBuckets = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const phases = ['waiting', 'executing'] as const;
const ofFlow = ['priority_level', 'flow_schema'] as const;

export type Phase = (typeof phases)[number];
/** The utilisation by phase. */
export type Ratios = Readonly<Record<Phase, SampledRatio>>;
type FlowLabels = Readonly<Record<(typeof ofFlow)[number], string>>;

export class FlowControlMetrics {
  /** Time until a request is admitted, in seconds. */
  readonly filter: HistogramSeries;
  private readonly families: ReturnType<typeof flowFamilies>;
  private readonly flows = new Map<string, FlowSeries>();
  private readonly levelRatios = new Map<string, Ratios>();
  private readonly kindRatios: Readonly<Record<RequestKind, Ratios>>;
  private seatCounts: ReadonlyMap<string, number> = new Map();
  private readonly levelHistograms;

  constructor(metrics: Metrics, limits: RequestLimits, nowMs: number) {
    this.filter = filterDurations(metrics).labels({ filter: 'priorityandfairness' });
    metrics.gauge({
      name: 'apiserver_flowcontrol_request_concurrency_limit',
      help: 'Requests of a priority level that may execute concurrently.',
      labels: ['priority_level'],
      collect: (gauge) => {
        gauge.reset();
        for (const [level, count] of this.seatCounts) gauge.set({ priority_level: level }, count);
      },
    });
    for (const phase of phases) this.registerCounts(metrics, phase);
    this.families = flowFamilies(metrics);
    this.levelHistograms = ratioFamilies(metrics, 'priority_level', 'of a priority level');
    const kindHistograms = ratioFamilies(metrics, 'request_kind', 'that read or write');
    const ofKind = (kind: RequestKind) =>
      kindHistograms(kind, (histograms) => new SampledRatio(histograms, limits[kind] || 1, nowMs));
    this.kindRatios = { readOnly: ofKind('readOnly'), mutating: ofKind('mutating') };
  }

  /** `seatCounts`: by name of the level. */
  configured(seatCounts: ReadonlyMap<string, number>): void {
    this.seatCounts = seatCounts;
  }

  ofKind(kind: RequestKind): Ratios {
    return this.kindRatios[kind];
  }

  ofLevel(level: string, nowMs: number): Ratios {
    let ratios = this.levelRatios.get(level);
    if (!ratios) {
      ratios = this.levelHistograms(level, (histograms) => new SampledRatio(histograms, 1, nowMs));
      this.levelRatios.set(level, ratios);
    }
    return ratios;
  }

  ofFlow(level: string, schema: string): FlowSeries {
    const key = `${level}\n${schema}`;
    let series = this.flows.get(key);
    if (!series) {
      series = new FlowSeries(this.families, { priority_level: level, flow_schema: schema });
      this.flows.set(key, series);
    }
    return series;
  }

  /** Updates the sampled ratios before they are rendered. */
  refresh(nowMs: number): void {
    const kinds = Object.values(this.kindRatios);
    for (const { waiting, executing } of [...kinds, ...this.levelRatios.values()]) {
      waiting.count(nowMs);
      executing.count(nowMs);
    }
  }

  private registerCounts(metrics: Metrics, phase: Phase): void {
    metrics.gauge({
      name: `apiserver_flowcontrol_current_${phase === 'waiting' ? 'inqueue' : 'executing'}_requests`,
      help: `Requests that are ${phase} now.`,
      labels: ofFlow,
      collect: (gauge) => {
        for (const { labels, isLimited, counts } of this.flows.values()) {
          if (isLimited) gauge.set(labels, counts[phase]);
        }
      },
    });
  }
}

/** The series of one flow schema's requests in one priority level. */
export class FlowSeries {
  readonly counts: Record<Phase, number> = { waiting: 0, executing: 0 };
  /** Requests of it have taken or waited for seats. */
  isLimited = false;
  private dispatchedSeries: CounterSeries | undefined;
  private executionSeries: HistogramSeries | undefined;
  private queueLengthSeries: HistogramSeries | undefined;
  private readonly waitSeries = new Map<boolean, HistogramSeries>();

  constructor(
    private readonly families: ReturnType<typeof flowFamilies>,
    readonly labels: FlowLabels,
  ) {}

  dispatched(): void {
    this.dispatchedSeries ??= this.families.dispatched.labels(this.labels);
    this.dispatchedSeries.inc();
  }

  executed(seconds: number): void {
    this.executionSeries ??= this.families.executions.labels(this.labels);
    this.executionSeries.observe(seconds);
  }

  /** `length`: requests in the queue, this one included. */
  queued(length: number): void {
    this.queueLengthSeries ??= this.families.queueLengths.labels(this.labels);
    this.queueLengthSeries.observe(length);
  }

  /** The wait of a request of a limited level has ended. */
  waited(isExecuted: boolean, seconds: number): void {
    let series = this.waitSeries.get(isExecuted);
    if (!series) {
      series = this.families.waits.labels({ ...this.labels, execute: String(isExecuted) });
      this.waitSeries.set(isExecuted, series);
    }
    series.observe(seconds);
  }

  rejected(reason: string): void {
    this.families.rejected.inc({ ...this.labels, reason });
  }
}

function flowFamilies(metrics: Metrics) {
  return {
    rejected: metrics.counter({
      name: 'apiserver_flowcontrol_rejected_requests_total',
      help: 'Requests rejected, by reason.',
      labels: [...ofFlow, 'reason'],
    }),
    dispatched: metrics.counter({
      name: 'apiserver_flowcontrol_dispatched_requests_total',
      help: 'Requests admitted.',
      labels: ofFlow,
    }),
    queueLengths: metrics.histogram({
      name: 'apiserver_flowcontrol_request_queue_length_after_enqueue',
      help: 'Length of a queue after a request has joined it.',
      labels: ofFlow,
      buckets: lengthBuckets,
    }),
    waits: metrics.histogram({
      name: 'apiserver_flowcontrol_request_wait_duration_seconds',
      help: 'Time that requests waited, in seconds, by whether they executed afterwards.',
      labels: [...ofFlow, 'execute'],
      buckets: secondsBuckets,
    }),
    executions: metrics.histogram({
      name: 'apiserver_flowcontrol_request_execution_seconds',
      help: 'Time from the admission of requests to their response, in seconds.',
      labels: ofFlow,
      buckets: secondsBuckets,
    }),
  };
}

/** Creates the ratios of one label value. */
function ratioFamilies(metrics: Metrics, label: 'priority_level' | 'request_kind', whose: string) {
  const prefix =
    label === 'priority_level'
      ? 'apiserver_flowcontrol_priority_level_request_count'
      : 'apiserver_flowcontrol_read_vs_write_request_count';
  const samples: Histogram<typeof label | 'phase'> = metrics.histogram({
    name: `${prefix}_samples`,
    help: `Requests ${whose}, relative to their limit, each millisecond.`,
    labels: [label, 'phase'] as const,
    buckets: ratioBuckets,
  });
  const marks: Histogram<typeof label | 'phase' | 'mark'> = metrics.histogram({
    name: `${prefix}_watermarks`,
    help: `Requests ${whose}, relative to their limit: most and fewest within each millisecond.`,
    labels: [label, 'phase', 'mark'] as const,
    buckets: ratioBuckets,
  });
  return (value: string, make: (histograms: RatioHistograms) => SampledRatio): Ratios => {
    const ofPhase = (phase: Phase) => {
      const labels = { [label]: value, phase } as Record<typeof label | 'phase', string>;
      return make({
        samples: samples.labels(labels),
        high: marks.labels({ ...labels, mark: 'high' }),
        low: marks.labels({ ...labels, mark: 'low' }),
      });
    };
    return { waiting: ofPhase('waiting'), executing: ofPhase('executing') };
  };
}
