/**
 * What is on its way to disk: one write at a time; everything that gathers meanwhile goes into the
 * next. Messages that promise something durable are held back until the write that carries it is done,
 * and dropped if the term has moved on by then: their promise may have been truncated meanwhile.
 */
import type { LogIndex } from '../replicated-log.js';
import { mark } from './coverage-marks.js';
import { invariant } from './invariant.js';
import type { Entry, HardState, Message, Term, WriteRequest } from './types.js';

interface Outstanding {
  readonly id: number;
  /** Lowered when entries that it carries are truncated meanwhile. */
  lastIndex: LogIndex;
  readonly carriesVote: boolean;
}

export class WriteQueue {
  #nextId = 1;
  #outstanding: Outstanding | undefined;
  #pending: Entry[] = [];
  #truncateFrom: LogIndex | undefined;
  #votePending = false;
  #stored: HardState;
  /** The last entry that is durable. */
  #stableIndex: LogIndex;
  /** The last entry that is durable or in the write under way. */
  #handedIndex: LogIndex;
  #heldForOutstanding: Message[] = [];
  #heldForNext: Message[] = [];

  constructor(
    stored: HardState,
    lastIndex: LogIndex,
    private readonly heldMessagesMax: number,
  ) {
    this.#stored = stored;
    this.#stableIndex = lastIndex;
    this.#handedIndex = lastIndex;
  }

  get stableIndex(): LogIndex {
    return this.#stableIndex;
  }

  /** Term and vote are on disk. */
  get voteStable(): boolean {
    return !this.#votePending && !this.#outstanding?.carriesVote;
  }

  get idle(): boolean {
    return !this.#outstanding && !this.#hasPending;
  }

  /** Term or vote changed. */
  noteVote(): void {
    this.#votePending = true;
  }

  append(entry: Entry): void {
    this.#pending.push(entry);
  }

  truncateFrom(index: LogIndex): void {
    while (this.#pending.length > 0 && this.#pending.at(-1)!.index >= index) this.#pending.pop();
    if (index > this.#handedIndex) return;
    this.#truncateFrom = index;
    this.#handedIndex = (index - 1) as LogIndex;
    if (this.#stableIndex >= index) this.#stableIndex = this.#handedIndex;
    if (this.#outstanding && this.#outstanding.lastIndex >= index) {
      mark('truncatedWhileWriting');
      this.#outstanding.lastIndex = this.#handedIndex;
    }
  }

  /** A snapshot took the log's place, durably. */
  reset(lastIndex: LogIndex): void {
    invariant(
      !this.#outstanding && this.#pending.length === 0 && this.#truncateFrom === undefined,
      'the log is replaced while entries are being written',
    );
    this.#stableIndex = lastIndex;
    this.#handedIndex = lastIndex;
  }

  /**
   * True: the message waits until term, vote and the log up to `index` are durable (then `written` gives
   * it back). False: they are, send it.
   */
  hold(message: Message, index: LogIndex): boolean {
    const forNext = this.#votePending || index > this.#handedIndex;
    if (!forNext && index <= this.#stableIndex && !this.#outstanding?.carriesVote) return false;
    const held = forNext ? this.#heldForNext : this.#heldForOutstanding;
    const newest = held.at(-1);
    if (newest && supersedes(message, newest)) held[held.length - 1] = message;
    else if (held.length < this.heldMessagesMax) held.push(message);
    else mark('heldMessageDropped');
    return true;
  }

  /** The next write, if there is something to write and none is under way. */
  take(hardState: HardState, lastIndex: LogIndex): WriteRequest | undefined {
    if (this.#outstanding || !this.#hasPending) return undefined;
    invariant(
      hardState.term >= this.#stored.term && hardState.commitIndex >= this.#stored.commitIndex,
      'term or commit index falls',
    );
    invariant(hardState.commitIndex <= lastIndex, 'the commit index is after the end of the log');
    const request: WriteRequest = {
      id: this.#nextId,
      hardState: sameHardState(hardState, this.#stored) ? undefined : hardState,
      truncateFrom: this.#truncateFrom,
      entries: this.#pending,
    };
    this.#outstanding = { id: this.#nextId, lastIndex, carriesVote: this.#votePending };
    invariant(this.#heldForOutstanding.length === 0, 'a message was held back for no write');
    this.#heldForOutstanding = this.#heldForNext;
    this.#heldForNext = [];
    this.#nextId += 1;
    this.#stored = hardState;
    this.#handedIndex = lastIndex;
    this.#pending = [];
    this.#truncateFrom = undefined;
    this.#votePending = false;
    return request;
  }

  /** The write is done: what waited for it and still holds in `term`. */
  written(id: number, term: Term): Message[] {
    const outstanding = this.#outstanding;
    invariant(outstanding?.id === id, `write ${id} is not the one under way`);
    this.#outstanding = undefined;
    invariant(outstanding.lastIndex >= this.#stableIndex, 'the durable end of the log falls');
    this.#stableIndex = outstanding.lastIndex;
    const released = this.#heldForOutstanding;
    this.#heldForOutstanding = [];
    if (released.every((message) => message.term === term)) return released;
    mark('heldMessageOutdated');
    return released.filter((message) => message.term === term);
  }

  get #hasPending(): boolean {
    return this.#pending.length > 0 || this.#votePending || this.#truncateFrom !== undefined;
  }
}

/** One acknowledgement stands for all before it. */
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
