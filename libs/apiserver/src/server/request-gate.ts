/**
 * What stands between knowing who asks and answering: how many requests are worked on at a time, and
 * which are made to wait or turned away. Watches, logs and connections do not count.
 */
import type { User } from '../authentication/user.js';
import type { RequestInfo } from '../request/request-info.js';
import type { Exchange } from '../response/exchange.js';

export const requestKinds = ['readOnly', 'mutating'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** How many requests that may execute at a time, by kind. */
export type RequestLimits = Readonly<Record<RequestKind, number>>;

export interface GateRequest {
  readonly info: RequestInfo;
  readonly user: User;
  readonly exchange: Exchange;
  /** On the monotonic clock. */
  readonly arrivalMs: number;
}

/** Held by a request that is worked on. */
export interface Place {
  /** To be called once, when the request has been answered. */
  leave(): void;
}

export interface RequestCounts {
  executingCount(kind: RequestKind): number;
  waitingCount(kind: RequestKind): number;
}

export interface RequestGate extends RequestCounts {
  /** A place, as soon as there is one; undefined for a request that is turned away. */
  enter(request: GateRequest): Place | undefined | Promise<Place | undefined>;
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

export function requestKind(verb: string): RequestKind {
  return readVerbs.has(verb) ? 'readOnly' : 'mutating';
}
