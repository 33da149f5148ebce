/**
 * Takes commands for the log. Refused commands are reported by id; accepted ones count against the
 * bound of uncommitted bytes until they are committed. With nothing uncommitted, one command of any
 * allowed size is accepted.
 */

import { asLogIndex } from '../brands.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { commandBytesMax, entryOverheadBytes } from '../limits.js';
import { entryBytes } from '../log/entry-cache.js';
import type { ForwardedCommand, RefusalCode } from '../messages.js';
import type { CoreState } from '../state/core-state.js';
import type { LogIndex, MemberId } from '../types.js';

export class Proposals {
  private uncommitted = 0;

  constructor(
    private readonly state: CoreState,
    /** First entry of this leader's term; earlier entries are not counted. */
    private readonly termStartIndex: LogIndex,
  ) {}

  get uncommittedBytes(): number {
    return this.uncommitted;
  }

  /** `from`: this replica, or the one that forwarded them. */
  take(commands: readonly ForwardedCommand[], from: MemberId, transferring: boolean): void {
    if (transferring) {
      mark('proposalWhileTransferring');
      refuseCommands(this.state, commands, from, 'Transferring');
      return;
    }
    invariant(this.state.activeRole === 'leader', 'a replica that does not lead takes proposals');
    for (let at = 0; at < commands.length; at += 1) {
      const command = commands[at]!;
      if (command.data.length > commandBytesMax) {
        mark('proposalTooLarge');
        refuseCommands(this.state, [command], from, 'TooLarge');
        continue;
      }
      if (!this.hasRoom(command.data.length)) {
        mark('proposalQueueFull');
        // Later commands as well: commands of one proposer do not overtake each other.
        refuseCommands(this.state, commands.slice(at), from, 'QueueFull');
        return;
      }
      this.uncommitted += entryBytes(this.state.appendOwn('command', command.data));
    }
  }

  /** Entries `(from, to]` have been committed. */
  release(from: LogIndex, to: LogIndex): void {
    const { log } = this.state;
    invariant(from < to, 'the commit index falls');
    invariant(to <= log.last.index, 'more is committed than the log holds');
    for (let index = Math.max(from + 1, this.termStartIndex); index <= to; index += 1) {
      const entry = log.cached(asLogIndex(index));
      invariant(entry !== undefined, `entry ${index} left memory before it was committed`);
      if (entry.kind === 'command') this.uncommitted -= entryBytes(entry);
    }
    invariant(this.uncommitted >= 0, 'more was committed than was proposed');
  }

  private hasRoom(byteCount: number): boolean {
    return (
      this.uncommitted === 0 ||
      this.uncommitted + byteCount + entryOverheadBytes <= this.state.options.uncommittedBytesMax
    );
  }
}

/** To the leader, in messages of bounded size. */
export function forwardCommands(
  state: CoreState,
  commands: readonly ForwardedCommand[],
  leader: MemberId,
): void {
  invariant(leader !== state.id, 'a leader forwards commands to itself');
  invariant(state.activeRole !== 'leader', 'a leader forwards commands');
  mark('proposalForwarded');
  const { appendEntriesMax, appendBytesMax } = state.options;
  let first = 0;
  let byteCount = 0;
  for (let at = 0; at <= commands.length; at += 1) {
    const next = commands[at];
    const full =
      at - first === appendEntriesMax ||
      (next !== undefined && at > first && byteCount + next.data.length > appendBytesMax);
    if ((next === undefined || full) && at > first) {
      state.send({
        kind: 'proposeRequest',
        from: state.id,
        to: leader,
        term: state.term,
        commands: commands.slice(first, at),
      });
      first = at;
      byteCount = 0;
    }
    byteCount += next?.data.length ?? 0;
  }
}

/** Reports to the proposer, here or on another replica, that no command was appended. */
export function refuseCommands(
  state: CoreState,
  commands: readonly ForwardedCommand[],
  from: MemberId,
  code: RefusalCode,
): void {
  if (commands.length === 0) return;
  const ids = commands.map((command) => command.id);
  if (from === state.id) {
    state.outbox.refuse(ids, code);
    return;
  }
  state.send({ kind: 'proposeRefusal', from: state.id, to: from, term: state.term, ids, code });
}
