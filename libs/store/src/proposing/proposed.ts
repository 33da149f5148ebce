/** Commands of this replica before they have an id and a time. */
import type { Command, CommandId } from '../core/command.js';

/** A command without its id and time. */
export type Proposed = Command extends infer Each
  ? Each extends { readonly kind: 'register' }
    ? never
    : Omit<Each, 'id' | 'timeMs'>
  : never;

/** Adds the id and time. Lists the fields of a transaction, because a spread costs microseconds. */
export function commandOf(proposed: Proposed, id: CommandId, timeMs: number): Command {
  if (proposed.kind === 'txn') {
    return { kind: 'txn', operations: proposed.operations, id, timeMs };
  }
  return { ...proposed, id, timeMs };
}
