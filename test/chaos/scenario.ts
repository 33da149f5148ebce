/** What a scenario is: a cluster, a load, faults, and the least that must have happened for it to count. */
import type { LoadSettings } from './load/load.js';
import type { Run } from './run.js';
import type { ClusterOptions } from './support/chaos-cluster.js';

export interface WorkGate {
  readonly acknowledged: number;
  /** For each time that the faults are done. */
  readonly faults: number;
  /** Changes of leader, for each time that the faults are done. */
  readonly failovers: number;
}

export interface Scenario {
  /** As in the list of docs/chaos.md. */
  readonly number: number;
  readonly name: string;
  /** Of the command that runs it again, where it is not called by its name. */
  readonly options?: string;
  /** What a good run shows, in a line. */
  readonly shows: string;
  readonly cluster?: Partial<ClusterOptions>;
  readonly load?: Partial<LoadSettings>;
  readonly gate: WorkGate;
  /** How often the faults are done in one run; once when left out. */
  readonly times?: number;
  /** Why it cannot be run here, if so: then it is told as skipped, never as passed. */
  readonly unavailable?: () => string | undefined;
  /** Does the faults, with the load going on. What it leaves cut, paused or dead is mended after it. */
  run(run: Run): Promise<void>;
}
