/** A planted bug: a change of the compiled product that the simulation must find. */

/**
 * A replacement in one compiled file. White space in `find` matches any white space; the rest must
 * match exactly, in exactly one place.
 */
export interface Edit {
  /** Below `dist/libs`. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Canary {
  readonly name: string;
  /** The bug, in one line. */
  readonly bug: string;
  readonly edits: readonly Edit[];
  /** Lowers a limit, so that small runs reach the changed code; not a bug by itself. */
  readonly setting?: readonly Edit[];
  /** The kinds of faults that reach the changed code soonest; undefined: all kinds are drawn. */
  readonly faults?: readonly string[];
  readonly memberCount?: number;
  /** The scenario to run, in the place of random faults. */
  readonly scenario?: string;
  /** The first seed to try: it found the bug when the bug was planted. */
  readonly seed: number;
  /** The number of seeds to try; after a change of the product another seed may find the bug. */
  readonly seedsMax: number;
  readonly stepCount: number;
  /** Whether it is quick enough for every run of the tests. */
  readonly isQuick?: boolean;
}
