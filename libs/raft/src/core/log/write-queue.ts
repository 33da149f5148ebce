/**
 * Writes to disk: one in progress; everything else gathers for the next. A message that promises
 * something durable is held until the write that carries it is done, and dropped if the term has
 * changed by then, because its promise may have been truncated.
 */
import { previousIndex } from '../brands.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import type { Message } from '../messages.js';
import type { WriteRequest } from '../output.js';
import type { Entry, HardState, LogIndex, Term } from '../types.js';

interface Outstanding {
  readonly id: number;
  /** Lowered when entries that it carries are truncated meanwhile. */
  lastIndex: LogIndex;
  readonly carriesVote: boolean;
}

export class WriteQueue {
  private nextId = 1;
  private outstanding: Outstanding | undefined;
  private pending: Entry[] = [];
  private truncationIndex: LogIndex | undefined;
  private hardStatePending = false;
  private stored: HardState;
  /** The last entry that is durable. */
  private lastStableIndex: LogIndex;
  /** The last entry that is durable or part of the write in progress. */
  private handedIndex: LogIndex;
  private heldForOutstanding: Message[] = [];
  private heldForNext: Message[] = [];

  constructor(
    stored: HardState,
    lastIndex: LogIndex,
    private readonly heldMessagesMax: number,
  ) {
    invariant(heldMessagesMax > 0, 'no message may wait for a write');
    this.stored = stored;
    this.lastStableIndex = lastIndex;
    this.handedIndex = lastIndex;
  }

  get stableIndex(): LogIndex {
    return this.lastStableIndex;
  }

  /** Term and vote are on disk. */
  get hardStateStable(): boolean {
    return !this.hardStatePending && !this.outstanding?.carriesVote;
  }

  get idle(): boolean {
    return !this.outstanding && !this.hasPending;
  }

  /** Term or vote changed. */
  markHardStateChanged(): void {
    this.hardStatePending = true;
  }

  append(entry: Entry): void {
    const before = this.pending.at(-1)?.index ?? this.handedIndex;
    invariant(entry.index === before + 1, 'an entry to write leaves a gap');
    this.pending.push(entry);
  }

  truncateFrom(index: LogIndex): void {
    while (this.pending.length > 0 && this.pending.at(-1)!.index >= index) this.pending.pop();
    if (index > this.handedIndex) return;
    invariant(index > 0, 'the start of the log is truncated');
    this.truncationIndex = index;
    this.handedIndex = previousIndex(index);
    if (this.lastStableIndex >= index) this.lastStableIndex = this.handedIndex;
    if (this.outstanding && this.outstanding.lastIndex >= index) {
      mark('truncatedWhileWriting');
      this.outstanding.lastIndex = this.handedIndex;
    }
    invariant(this.lastStableIndex < index, 'a truncated entry counts as durable');
  }

  /** A snapshot has replaced the log, durably. */
  reset(lastIndex: LogIndex): void {
    invariant(
      !this.outstanding && this.pending.length === 0 && this.truncationIndex === undefined,
      'the log is replaced while entries are being written',
    );
    this.lastStableIndex = lastIndex;
    this.handedIndex = lastIndex;
  }

  /**
   * True: the message waits until term, vote and the log up to `index` are durable (then `written`
   * gives it back). False: they are, send it.
   */
  holdUntilDurable(message: Message, index: LogIndex): boolean {
    const forNext = this.hardStatePending || index > this.handedIndex;
    if (!forNext && index <= this.lastStableIndex && !this.outstanding?.carriesVote) return false;
    const held = forNext ? this.heldForNext : this.heldForOutstanding;
    const newest = held.at(-1);
    if (newest && supersedes(message, newest)) held[held.length - 1] = message;
    else if (held.length < this.heldMessagesMax) held.push(message);
    else mark('heldMessageDropped');
    invariant(held.length <= this.heldMessagesMax, 'too many messages wait for a write');
    return true;
  }

  /** The next write, unless there is nothing to write or a write is in progress. */
  take(hardState: HardState, lastIndex: LogIndex): WriteRequest | undefined {
    if (this.outstanding || !this.hasPending) return undefined;
    invariant(
      hardState.term >= this.stored.term && hardState.commitIndex >= this.stored.commitIndex,
      'term or commit index falls',
    );
    invariant(hardState.commitIndex <= lastIndex, 'the commit index is after the end of the log');
    const request: WriteRequest = {
      id: this.nextId,
      hardState: sameHardState(hardState, this.stored) ? undefined : hardState,
      truncateFrom: this.truncationIndex,
      entries: this.pending,
    };
    this.outstanding = { id: this.nextId, lastIndex, carriesVote: this.hardStatePending };
    invariant(this.heldForOutstanding.length === 0, 'a message was held back for no write');
    this.heldForOutstanding = this.heldForNext;
    this.heldForNext = [];
    invariant(lastIndex >= this.lastStableIndex, 'a write ends before the durable end of the log');
    this.nextId += 1;
    this.stored = hardState;
    this.handedIndex = lastIndex;
    this.pending = [];
    this.truncationIndex = undefined;
    this.hardStatePending = false;
    return request;
  }

  /** Records that the write is done. Returns the held messages that are still valid in `term`. */
  onWritten(id: number, term: Term): Message[] {
    const outstanding = this.outstanding;
    invariant(outstanding?.id === id, `write ${id} is not the one in progress`);
    this.outstanding = undefined;
    invariant(outstanding.lastIndex >= this.lastStableIndex, 'the durable end of the log falls');
    this.lastStableIndex = outstanding.lastIndex;
    invariant(this.lastStableIndex <= this.handedIndex, 'an entry is durable that was not written');
    const released = this.heldForOutstanding;
    this.heldForOutstanding = [];
    if (released.every((message) => message.term === term)) return released;
    mark('heldMessageOutdated');
    return released.filter((message) => message.term === term);
  }

  private get hasPending(): boolean {
    return this.pending.length > 0 || this.hardStatePending || this.truncationIndex !== undefined;
  }
}

/** An acknowledgement covers all earlier ones. */
function supersedes(message: Message, before: Message): boolean {
  return (
    message.kind === 'appendResponse' &&
    before.kind === 'appendResponse' &&
    message.accepted &&
    before.accepted &&
    message.to === before.to &&
    message.term === before.term &&
    message.matchIndex >= before.matchIndex
  );
}

function sameHardState(left: HardState, right: HardState): boolean {
  return (
    left.term === right.term &&
    left.votedFor === right.votedFor &&
    left.commitIndex === right.commitIndex
  );
}
