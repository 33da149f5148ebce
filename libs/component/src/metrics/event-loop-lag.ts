/**
 * The metrics of event loop delay, with the names of prom-client, whose own sampler wakes every
 * process a hundred times a second. This one halves its period while the loop is busy and doubles
 * it while it is idle. A value is the delay of a timer, without its period.
 */
import { createHistogram, performance } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';
import { systemClock } from '../clock.js';
import {
  eventLoopBusyShare,
  eventLoopSampleMs,
  eventLoopSampleMsMax,
  timerResolutionMs,
} from '../limits.js';

const nsPerMs = 1e6;
const nsPerSecond = 1e9;
const quantiles = [50, 90, 99] as const;

export type Delays = ReturnType<typeof createHistogram>;

/** Returns the next period: half of a busy one, twice an idle one, within the limits. */
export function nextPeriodMs(periodMs: number, busyShare: number, delayMs: number): number {
  const isBusy = busyShare >= eventLoopBusyShare || delayMs >= eventLoopSampleMs;
  if (isBusy) return Math.max(periodMs / 2, eventLoopSampleMs);
  return Math.min(2 * periodMs, eventLoopSampleMsMax);
}

/** One sampler for the process, although each component in it has metrics of its own. */
class Sampler {
  private readonly recorders = new Set<WeakRef<Delays>>();
  private periodMs = eventLoopSampleMs;
  private utilization = performance.eventLoopUtilization();

  /** Records into `delays` until its owner has gone. */
  add(delays: Delays): void {
    this.recorders.add(new WeakRef(delays));
    if (this.recorders.size === 1) this.schedule();
  }

  private schedule(): void {
    const dueMs = performance.now() + this.periodMs;
    systemClock.setTimer(this.periodMs, () => this.sample(dueMs));
  }

  private sample(dueMs: number): void {
    const lateMs = performance.now() - dueMs;
    const delayMs = lateMs > timerResolutionMs ? lateMs : 0;
    for (const reference of this.recorders) {
      const delays = reference.deref();
      if (delays) delays.record(Math.max(1, Math.round(delayMs * nsPerMs)));
      else this.recorders.delete(reference);
    }
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.utilization);
    this.utilization = now;
    this.periodMs = nextPeriodMs(this.periodMs, utilization, delayMs);
    if (this.recorders.size > 0) this.schedule();
  }
}

const sampler = new Sampler();

/** Registers the gauges. Each rendering shows the delays since the previous one. */
export function registerEventLoopLag(registry: Registry): void {
  const delays = createHistogram();
  sampler.add(delays);
  let show: () => void = () => undefined;
  // The first one: a registry renders in order, and this one sets the others.
  new Gauge({
    name: 'nodejs_eventloop_lag_seconds',
    help: 'Lag of event loop in seconds.',
    registers: [registry],
    async collect() {
      show();
      const startedMs = performance.now();
      await systemClock.nextTurn();
      this.set((performance.now() - startedMs) / 1_000);
    },
  });
  show = createDelayGauges(registry, delays);
}

/** Returns what sets the gauges and begins a new period. */
function createDelayGauges(registry: Registry, delays: Delays): () => void {
  const gauge = (suffix: string, help: string) =>
    new Gauge({ name: `nodejs_eventloop_lag_${suffix}_seconds`, help, registers: [registry] });
  const least = gauge('min', 'The minimum recorded event loop delay.');
  const most = gauge('max', 'The maximum recorded event loop delay.');
  const mean = gauge('mean', 'The mean of the recorded event loop delays.');
  const deviation = gauge('stddev', 'The standard deviation of the recorded event loop delays.');
  const percentiles = quantiles.map((quantile) => ({
    quantile,
    gauge: gauge(`p${quantile}`, `The ${quantile}th percentile of the recorded event loop delays.`),
  }));
  return () => {
    if (delays.count === 0) return;
    least.set(delays.min / nsPerSecond);
    most.set(delays.max / nsPerSecond);
    mean.set(delays.mean / nsPerSecond);
    deviation.set(delays.stddev / nsPerSecond);
    for (const { quantile, gauge: target } of percentiles) {
      target.set(delays.percentile(quantile) / nsPerSecond);
    }
    delays.reset();
  };
}
