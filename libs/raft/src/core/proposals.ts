/**
 * Taking commands for the log. What is not taken is refused by name; what is taken counts against the
 * bound of uncommitted bytes until it is committed. An empty log takes one command of any allowed size.
 */
import { COMMAND_BYTES_MAX } from '../limits.js';
import type { LogIndex } from '../replicated-log.js';
import type { CoreState } from './core-state.js';
import { mark } from './coverage-marks.js';
import { entryBytes } from './entry-cache.js';
import { invariant } from './invariant.js';
import { ENTRY_OVERHEAD_BYTES } from './limits.js';
import type { ForwardedCommand, MemberId, RefusalCode } from './types.js';

export class Proposals {
  #uncommittedBytes = 0;

  constructor(
    private readonly state: CoreState,
    /** First entry of this leader's term: what came before is not counted. */
    private readonly termStartIndex: LogIndex,
  ) {}

  get uncommittedBytes(): number {
    return this.#uncommittedBytes;
  }

  /** `from`: this replica, or the one that forwarded them. */
  take(commands: readonly ForwardedCommand[], from: MemberId, transferring: boolean): void {
    if (transferring) {
      mark('proposalWhileTransferring');
      refuseCommands(this.state, commands, from, 'Transferring');
      return;
    }
    for (let at = 0; at < commands.length; at += 1) {
      const command = commands[at]!;
      if (command.data.length > COMMAND_BYTES_MAX) {
        mark('proposalTooLarge');
        refuseCommands(this.state, [command], from, 'TooLarge');
        continue;
      }
      if (!this.#hasRoom(command.data.length)) {
        mark('proposalQueueFull');
        // Those behind it, too: a proposer's commands do not overtake each other.
        refuseCommands(this.state, commands.slice(at), from, 'QueueFull');
        return;
      }
      this.#uncommittedBytes += entryBytes(this.state.appendOwn('command', command.data));
    }
  }

  /** Entries `(from, to]` have been committed. */
  release(from: LogIndex, to: LogIndex): void {
    const { log } = this.state;
    for (let index = Math.max(from + 1, this.termStartIndex); index <= to; index += 1) {
      const entry = log.cached(index as LogIndex);
      invariant(entry !== undefined, `entry ${index} left memory before it was committed`);
      if (entry.kind === 'command') this.#uncommittedBytes -= entryBytes(entry);
    }
    invariant(this.#uncommittedBytes >= 0, 'more was committed than was proposed');
  }

  #hasRoom(byteCount: number): boolean {
    return (
      this.#uncommittedBytes === 0 ||
      this.#uncommittedBytes + byteCount + ENTRY_OVERHEAD_BYTES <=
        this.state.options.uncommittedBytesMax
    );
  }
}

/** To the leader, in messages of bounded size. */
export function forwardCommands(
  state: CoreState,
  commands: readonly ForwardedCommand[],
  leader: MemberId,
): void {
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

/** Tells the proposer, here or on another replica, that none of them was appended. */
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
