/**
 * A filter sees every request before its handler: it may fill in the request context, respond
 * itself, reject the request by throwing, and act after the rest of the chain. A new filter is a
 * file with a function of this type and an entry in the list of `request-filters.ts`. The chain is
 * built once: a filter gets the rest of it then, and no request creates a closure.
 */
import type { RequestContext } from '../http/request-context.js';

/** The rest of the chain. May throw as well as reject. */
export type Next = (context: RequestContext) => Promise<void>;

/** Returns the chain that begins with the filter. */
export type Filter = (next: Next) => Next;

/** One function that runs the filters in order, then `last`. */
export function chain(filters: readonly Filter[], last: Next): Next {
  return filters.reduceRight((next, filter) => filter(next), last);
}
