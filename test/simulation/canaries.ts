/**
 * Planted bugs. Each is a change of the compiled product that the simulation must find: one that it does
 * not find shows that the simulation is too weak. `seed` found it when it was planted and is tried
 * first; after changes of the product another one of the `seedsMax` from there on will do.
 */
import { coreCanaries } from './canaries-core.js';
import { logCanaries } from './canaries-log.js';
import { memberCanaries } from './canaries-members.js';
import { readCanaries } from './canaries-reads.js';
import { scenarioCanaries } from './canaries-scenarios.js';
import { storeCanaries } from './canaries-store.js';
import { watchCanaries } from './canaries-watch.js';

/** Blanks and line ends match any; everything else must match exactly, in exactly one place. */
export interface Edit {
  /** Below `dist/libs`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Canary {
  readonly name: string;
  /** What is wrong with it, in one line. */
  readonly bug: string;
  readonly edits: readonly Edit[];
  /** Lowers a limit, so that the place is reached by small runs; not a bug by itself. */
  readonly setting?: readonly Edit[];
  /** Kinds of faults that lead there soonest; without it all kinds are drawn. */
  readonly faults?: readonly string[];
  readonly memberCount?: number;
  /** Staged, instead of faults by chance. */
  readonly scenario?: string;
  readonly seed: number;
  readonly seedsMax: number;
  readonly stepCount: number;
  /** Quick enough for every run of the tests. */
  readonly isQuick?: boolean;
}

export const canaries: readonly Canary[] = [
  ...coreCanaries,
  ...readCanaries,
  ...memberCanaries,
  ...logCanaries,
  ...storeCanaries,
  ...watchCanaries,
  ...scenarioCanaries,
];
