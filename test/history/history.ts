/**
 * What clients did and saw, and what the store says happened: the input of the checks. Moments are
 * numbers that only grow in the process that takes the notes; any unit will do.
 */

/** One change of one key, as the log of commits has it. `value` names a content: unique for each put. */
export interface LoggedEvent {
  readonly revision: number;
  readonly kind: 'put' | 'delete';
  readonly key: string;
  readonly value: string;
}

export type WriteOperation =
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly value: string;
      readonly expect?: Expectation;
    }
  | { readonly kind: 'delete'; readonly key: string; readonly expect?: Expectation };

/** `absent`, or the revision that the key must have. */
export type Expectation = 'absent' | number;

export interface WriteRecord {
  readonly kind: 'write';
  readonly client: string;
  readonly startedAt: number;
  /** Undefined: no answer came. */
  endedAt?: number;
  readonly operations: readonly WriteOperation[];
  outcome: WriteOutcome;
}

export type WriteOutcome =
  | { readonly kind: 'applied'; readonly revision: number }
  /** An expectation did not hold: what was stored instead, and when. Undefined revision: not told. */
  | {
      readonly kind: 'conflict';
      readonly operation: number;
      readonly revision: number | undefined;
      readonly current: Version | undefined;
    }
  /** Told that it was certainly not done. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** May have been done, once. */
  | { readonly kind: 'unknown' };

export interface Version {
  readonly key: string;
  readonly value: string;
  readonly revision: number;
}

export type Consistency =
  | { readonly kind: 'quorum' }
  | { readonly kind: 'any' }
  | { readonly kind: 'notOlderThan'; readonly revision: number }
  | { readonly kind: 'exact'; readonly revision: number };

/** A read that was answered. Refused reads need no record. */
export interface ReadRecord {
  readonly kind: 'read';
  readonly client: string;
  /** Where it was asked: reads at `any` are only as new as that replica. */
  readonly replica: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly consistency: Consistency;
  /** A key, or a prefix when `isList`. */
  readonly key: string;
  readonly isList: boolean;
  /** Undefined where the answer does not say it (a get of what is there says only its version). */
  readonly revision: number | undefined;
  readonly found: readonly Version[];
}

/** One watch from its start to its end, over as many replicas as it was resumed on. */
export interface WatchRecord {
  readonly client: string;
  readonly prefix: string;
  readonly afterRevision: number;
  readonly events: WatchedEvent[];
  /** Everything up to it was delivered, as the last event or bookmark says. */
  progress: number;
  /** `compacted`: it was told to list again, and the record ends there. */
  ended: 'open' | 'compacted';
}

export type WatchedEvent =
  | (LoggedEvent & { readonly previous?: string | undefined })
  | { readonly kind: 'bookmark'; readonly revision: number };

export interface Violation {
  readonly rule: string;
  readonly detail: string;
}
