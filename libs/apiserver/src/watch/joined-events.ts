/**
 * Lists of events that wait for many watches. Watches with the same waiting events that get the
 * same further ones share the joined list, so that an event for thousands of watches allocates
 * nothing for each of them. Invariant: no list is changed.
 */
import type { WatchEvent } from '@orch/store';

type Events = readonly WatchEvent[];

/** The last list that was joined to each one, for as long as a watch has that one. */
const joins = new WeakMap<Events, { readonly added: Events; readonly joined: Events }>();

/** Returns `waiting` followed by `added`. */
export function joinedEvents(waiting: Events, added: Events): Events {
  if (waiting.length === 0) return added;
  if (added.length === 0) return waiting;
  const known = joins.get(waiting);
  if (known?.added === added) return known.joined;
  const joined = [...waiting, ...added];
  joins.set(waiting, { added, joined });
  return joined;
}
