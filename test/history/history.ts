/**
 * The input of the checks: calls and observations of clients, and the log of the store. Times are
 * numbers that only increase in the recording process, in any unit.
 */

/** One change of one key in the log of commits. `value` names a content: unique for each put. */
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
  /** Undefined if no response arrived. */
  endedAt?: number;
  readonly operations: readonly WriteOperation[];
  outcome: WriteOutcome;
}

export type WriteOutcome =
  | { readonly kind: 'applied'; readonly revision: number }
  /** An expectation did not hold: the stored version and its revision, if the response has it. */
  | {
      readonly kind: 'conflict';
      readonly operation: number;
      readonly revision: number | undefined;
      readonly current: Version | undefined;
    }
  /** Certainly had no effect. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** May have taken effect, once. */
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

/** A successful read. Refused reads need no record. */
export interface ReadRecord {
  readonly kind: 'read';
  readonly client: string;
  /** The replica that served it: reads at `any` are only as new as that replica. */
  readonly replica: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly consistency: Consistency;
  /** A key, or a prefix when `isList`. */
  readonly key: string;
  readonly isList: boolean;
  /** Undefined if the response lacks it (a get of an existing key has only its version). */
  readonly revision: number | undefined;
  readonly found: readonly Version[];
}

/** One watch from its start to its end, over as many replicas as it was resumed on. */
export interface WatchRecord {
  readonly client: string;
  readonly prefix: string;
  readonly afterRevision: number;
  readonly events: WatchedEvent[];
  /** Every event up to it was delivered, according to the last event or bookmark. */
  progress: number;
  /** `compacted`: the server required a new list; the record ends there. */
  ended: 'open' | 'compacted';
}

export type WatchedEvent =
  | (LoggedEvent & { readonly previous?: string | undefined })
  | { readonly kind: 'bookmark'; readonly revision: number };

export interface Violation {
  readonly rule: string;
  readonly detail: string;
}
