/**
 * Constructors and arithmetic of the branded numbers and strings, which the compiler keeps apart.
 */
import { invariant } from './invariant.js';
import type { LogIndex, MemberId, Term } from './types.js';

/** Position before the first entry of any log. */
export const noIndex = 0 as LogIndex;
/** Term before the first election of a cluster. */
export const noTerm = 0 as Term;

/** A number from outside (disk, network, test) as a log index. */
export function asLogIndex(value: number): LogIndex {
  invariant(Number.isSafeInteger(value) && value >= 0, 'a log index is a whole number from 0 on');
  return value as LogIndex;
}

/** A number from outside (disk, network, test) as a term. */
export function asTerm(value: number): Term {
  invariant(Number.isSafeInteger(value) && value >= 0, 'a term is a whole number from 0 on');
  return value as Term;
}

/** A string from outside (disk, network, command line, test) as a member id. */
export function asMemberId(value: string): MemberId {
  return value as MemberId;
}

export function nextIndex(index: LogIndex): LogIndex {
  return (index + 1) as LogIndex;
}

/** Only for an index after `noIndex`. */
export function previousIndex(index: LogIndex): LogIndex {
  invariant(index > noIndex, 'there is no index before the first');
  return (index - 1) as LogIndex;
}

export function minIndex(left: LogIndex, right: LogIndex): LogIndex {
  return left < right ? left : right;
}

export function maxIndex(left: LogIndex, right: LogIndex): LogIndex {
  return left > right ? left : right;
}

export function nextTerm(term: Term): Term {
  return (term + 1) as Term;
}

/** `T` with plain numbers and strings in place of the branded ones. */
export type Unbranded<T> = T extends LogIndex | Term
  ? number
  : T extends MemberId
    ? string
    : T extends Buffer
      ? T
      : T extends object
        ? { readonly [Key in keyof T]: Unbranded<T[Key]> }
        : T;

/**
 * Plain data from outside (wire, test) as the core's type: the brands exist for the compiler only.
 */
export function branded<T>(plain: Unbranded<[T][T extends unknown ? 0 : never]>): T {
  return plain as T;
}
