/** Everything the replicated store needs from outside. */
import type { Logger, LoopClock } from '@orch/component';
import type { Disk, ReplicatedLog } from '@orch/raft';
import type { StoreObserver } from './store-observer.js';
import type { StoreOptions } from './store-options.js';

export interface StoreDependencies {
  /**
   * Directory of the state database, used by nothing else; created if it is missing. A snapshot
   * that is being received is in `<directory>.incoming`.
   */
  readonly directory: string;
  readonly disk: Disk;
  readonly log: ReplicatedLog;
  readonly clock: LoopClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly logger: Logger;
  /** Must end the process. Called at most once. */
  readonly onFatal: (error: Error) => void;
  readonly options?: Partial<StoreOptions>;
  readonly observer?: StoreObserver;
}
