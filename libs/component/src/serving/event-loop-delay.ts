/** Records for how long the event loop of the process was blocked. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { eventLoopSampleMs } from '../limits.js';

const quantiles = [50, 90, 99, 99.9];
const nsPerMs = 1e6;

export class EventLoopDelay {
  private readonly delays = monitorEventLoopDelay({ resolution: eventLoopSampleMs });
  private readonly startedMs = performance.now();
  private readonly utilization = performance.eventLoopUtilization();

  constructor() {
    this.delays.enable();
  }

  /** Returns the delays since the start in ms, and the share of time in which the loop was busy. */
  report(): object {
    const { count, min, max, mean } = this.delays;
    const inMs = (nanoseconds: number) => (count === 0 ? 0 : nanoseconds / nsPerMs);
    return {
      seconds: (performance.now() - this.startedMs) / 1_000,
      sampleCount: count,
      minMs: inMs(min),
      meanMs: inMs(mean),
      maxMs: inMs(max),
      percentilesMs: Object.fromEntries(
        quantiles.map((quantile) => [quantile, inMs(this.delays.percentile(quantile))]),
      ),
      utilization: performance.eventLoopUtilization(this.utilization).utilization,
    };
  }

  stop(): void {
    this.delays.disable();
  }
}
