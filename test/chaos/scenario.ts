/** A scenario: a cluster, a load, faults, and the minimum activity of a valid run. */
import type { LoadOptions } from './load/load.js';
import type { Run } from './run.js';
import type { ClusterOptions } from './support/chaos-cluster.js';

export interface WorkGate {
  readonly acknowledged: number;
  /** Per execution of the faults. */
  readonly faults: number;
  /** Changes of leader per execution of the faults. */
  readonly failovers: number;
}

export interface Scenario {
  /** Number in the list of docs/chaos.md. */
  readonly number: number;
  readonly name: string;
  /** Options of the command that repeats it, if the name is not enough. */
  readonly options?: string;
  /** What a passed run shows, in one line. */
  readonly shows: string;
  readonly cluster?: Partial<ClusterOptions>;
  readonly load?: Partial<LoadOptions>;
  readonly gate: WorkGate;
  /** How often one run executes the faults. Default: once. */
  readonly times?: number;
  /** Returns why it cannot run here, if so: it is then reported as skipped, never as passed. */
  readonly unavailable?: () => string | undefined;
  /** Executes the faults under load. The run then ends all remaining faults. */
  run(run: Run): Promise<void>;
}
