/** What this replica's own parts propose, before it has an id and a time. */
import type { Command, CommandId } from '../core/command.js';

/** What is proposed; id and time are added here. */
export type Proposed = Command extends infer Each
  ? Each extends { readonly kind: 'register' }
    ? never
    : Omit<Each, 'id' | 'timeMs'>
  : never;

/** Transactions are spelt out: spreading and then adding costs several microseconds. */
export function commandOf(proposed: Proposed, id: CommandId, timeMs: number): Command {
  if (proposed.kind === 'txn') {
    return { kind: 'txn', operations: proposed.operations, id, timeMs };
  }
  return { ...proposed, id, timeMs };
}
