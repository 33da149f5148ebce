/**
 * The state that all parts of the core share, with the few changes that keep it consistent: term and
 * vote only grow, the commit index never falls, committed entries are never truncated, log, pending
 * writes and configurations change together.
 */
import type { LogIndex } from '../replicated-log.js';
import { decodeConfiguration } from './configuration-codec.js';
import { Configurations, isVoter } from './configurations.js';
import { mark } from './coverage-marks.js';
import { entryAfter } from './entry-checksum.js';
import { invariant } from './invariant.js';
import { LogView } from './log-view.js';
import { Outbox } from './outbox.js';
import { isQuorum } from './quorum.js';
import type {
  CoreOptions,
  Entry,
  EntryKind,
  HardState,
  InitialState,
  LogPoint,
  MemberId,
  Message,
  Role,
  SnapshotPoint,
  Term,
} from './types.js';
import { WriteQueue } from './write-queue.js';

export type ActiveRole = 'leader' | 'candidate' | 'preCandidate' | 'follower';

export class CoreState {
  readonly id: MemberId;
  readonly log: LogView;
  readonly writes: WriteQueue;
  readonly configurations: Configurations;
  readonly outbox = new Outbox();
  activeRole: ActiveRole = 'follower';
  leader: MemberId | undefined;
  /** Ticks since the start of this process. */
  tick = 0;
  /** Ticks since a leader was heard, a vote was given or an election began. */
  electionElapsed = 0;
  needsSnapshot: boolean;
  /** A snapshot that waits for its installation, or is being installed. */
  installing: SnapshotPoint | undefined;
  admitted: boolean;
  /** What the state has applied; kept by `Delivery`. */
  appliedIndex = 0 as LogIndex;
  diskLatencyMs = 0;
  /** Append messages whose entries did not match their checksums. */
  damagedAppends = 0;
  #term: Term;
  #votedFor: MemberId | undefined;
  #commitIndex: LogIndex;
  /** Who was seen to lead, and in which term. */
  #seenLeader: { readonly term: Term; readonly id: MemberId } | undefined;

  constructor(
    readonly options: CoreOptions,
    initial: InitialState,
  ) {
    this.id = options.id;
    this.log = new LogView(initial, options);
    this.writes = new WriteQueue(initial.hardState, initial.last.index, options.heldMessagesMax);
    this.configurations = new Configurations(options.id, initial.configurations);
    this.needsSnapshot = initial.needsSnapshot;
    this.admitted = initial.mayVote;
    this.#term = initial.hardState.term;
    this.#votedFor = initial.hardState.votedFor;
    const applied = initial.needsSnapshot ? 0 : initial.appliedIndex;
    this.#commitIndex = Math.max(
      initial.hardState.commitIndex,
      initial.start.index,
      applied,
    ) as LogIndex;
    invariant(
      this.#commitIndex <= initial.last.index,
      `the log ends at ${initial.last.index}, before ${this.#commitIndex}, which is committed`,
    );
    invariant(
      initial.needsSnapshot || applied >= initial.start.index,
      `the log starts after ${initial.start.index} but the state has applied only ${applied}`,
    );
    invariant(initial.last.term <= this.#term, 'the log is of a later term than the vote');
  }

  get term(): Term {
    return this.#term;
  }

  get votedFor(): MemberId | undefined {
    return this.#votedFor;
  }

  get commitIndex(): LogIndex {
    return this.#commitIndex;
  }

  get hardState(): HardState {
    return { term: this.#term, votedFor: this.#votedFor, commitIndex: this.#commitIndex };
  }

  get role(): Role {
    const { configurations } = this;
    if (this.activeRole !== 'follower') return this.activeRole;
    if (isVoter(configurations.current, this.id)) return 'follower';
    const isLearner = configurations.current.learners.some((member) => member.id === this.id);
    const removed =
      !isLearner && configurations.seenSelf && configurations.currentIndex <= this.#commitIndex;
    return removed ? 'removed' : 'learner';
  }

  /** Whether this replica may stand for election. */
  get electable(): boolean {
    return this.admitted && !this.installing && isVoter(this.configurations.current, this.id);
  }

  /** Whether this replica decides alone. */
  get isQuorumAlone(): boolean {
    return isQuorum(this.configurations.current, (id) => id === this.id);
  }

  /** Whether a leader was heard within the election timeout; a leader hears itself. */
  get leaderAlive(): boolean {
    return (
      this.leader !== undefined &&
      (this.leader === this.id || this.electionElapsed < this.options.electionTicks)
    );
  }

  raiseTerm(term: Term): void {
    invariant(term > this.#term, `term falls from ${this.#term} to ${term}`);
    this.#term = term;
    this.#votedFor = undefined;
    this.writes.noteVote();
  }

  vote(candidate: MemberId): void {
    if (this.#votedFor === candidate) return;
    invariant(this.#votedFor === undefined, `a second vote in term ${this.#term}`);
    this.#votedFor = candidate;
    this.writes.noteVote();
  }

  /** One leader a term. */
  noteLeader(id: MemberId): void {
    const seen = this.#seenLeader;
    invariant(
      seen?.term !== this.#term || seen.id === id,
      `members ${seen?.id} and ${id} both lead in term ${this.#term}`,
    );
    if (seen?.term !== this.#term) this.#seenLeader = { term: this.#term, id };
  }

  commitTo(index: LogIndex): boolean {
    if (index <= this.#commitIndex) return false;
    invariant(
      index <= this.log.last.index,
      `entry ${index} is committed, but this log ends at ${this.log.last.index}: it has lost entries`,
    );
    this.#commitIndex = index;
    return true;
  }

  /** Makes the next entry of the own term. */
  appendOwn(kind: EntryKind, data: Buffer): Entry {
    const entry = entryAfter(this.log.last, this.#term, kind, data);
    this.append(entry);
    return entry;
  }

  append(entry: Entry): void {
    this.log.append(entry);
    this.writes.append(entry);
    if (entry.kind === 'configuration') {
      this.configurations.append(entry.index, decodeConfiguration(entry.data));
    }
  }

  /** Drops everything after `last`, which both logs share. */
  truncateAfter(last: LogPoint): void {
    const from = (last.index + 1) as LogIndex;
    invariant(from > this.#commitIndex, `a leader truncates ${from}, which is committed`);
    this.log.truncateAfter(last);
    this.writes.truncateFrom(from);
    if (this.configurations.currentIndex >= from) {
      mark('configurationRolledBack');
      this.configurations.truncateFrom(from);
    }
  }

  /** Sends at once: nothing in it needs to be durable here. */
  send(message: Message): void {
    this.outbox.messages.push(message);
  }

  /** Sends once term, vote and the log up to `index` are durable. */
  sendDurable(message: Message, index: LogIndex = 0 as LogIndex): void {
    if (!this.writes.hold(message, index)) this.outbox.messages.push(message);
  }
}
