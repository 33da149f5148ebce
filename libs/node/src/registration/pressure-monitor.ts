/**
 * The pressure conditions of the node. A condition remains for a transition period after the
 * pressure has ended, so that it does not flap.
 */
import { type Pressure, parseThresholds, pressureOf, type Threshold } from './eviction-signals.js';
import { availableResources, type MachineInfo } from './machine-info.js';

export interface PressureMonitorOptions {
  /** The entries of `--eviction-hard`. */
  readonly evictionHard: readonly string[];
  readonly transitionPeriodMs: number;
  readonly machine: MachineInfo;
  /** A directory on the file system of the pods. */
  readonly directory: string;
}

export class PressureMonitor {
  private readonly thresholds: readonly Threshold[];
  private readonly lastSeenMs = new Map<keyof Pressure, number>();

  constructor(private readonly options: PressureMonitorOptions) {
    this.thresholds = parseThresholds(options.evictionHard);
  }

  /** Measures the machine and returns the conditions. `nowMs` is monotonic. */
  check(nowMs: number): Pressure {
    const { machine, directory, transitionPeriodMs } = this.options;
    const current = pressureOf(this.thresholds, machine, availableResources(directory));
    const isReported = (kind: keyof Pressure): boolean => {
      if (current[kind]) this.lastSeenMs.set(kind, nowMs);
      const seenMs = this.lastSeenMs.get(kind);
      return seenMs !== undefined && nowMs - seenMs <= transitionPeriodMs;
    };
    return { memory: isReported('memory'), disk: isReported('disk'), pid: isReported('pid') };
  }
}
