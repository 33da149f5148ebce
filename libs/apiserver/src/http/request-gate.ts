/**
 * The gate between authentication and the handler: limits how many requests execute at a time,
 * queues some and rejects others. Watches, logs and connections are not limited.
 */
import type { RequestContext } from './request-context.js';

export const requestKinds = ['readOnly', 'mutating'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** How many requests may execute at a time, by kind. */
export type RequestLimits = Readonly<Record<RequestKind, number>>;

/** The part of a request that the gate decides on. */
export type GateRequest = Pick<RequestContext, 'info' | 'user' | 'headers' | 'response'>;

/** Held by an executing request. */
export interface Seat {
  /** Must be called once, when the request has been handled. */
  release(): void;
}

export interface RequestCounts {
  executingCount(kind: RequestKind): number;
  waitingCount(kind: RequestKind): number;
}

export interface RequestGate extends RequestCounts {
  /** A seat, as soon as one is free; undefined: the request is rejected. */
  enter(request: GateRequest): Seat | undefined | Promise<Seat | undefined>;
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

export function requestKind(verb: string): RequestKind {
  return readVerbs.has(verb) ? 'readOnly' : 'mutating';
}
