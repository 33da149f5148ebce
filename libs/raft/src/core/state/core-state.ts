/**
 * The state that all parts of the core share, with the few changes that keep it consistent: term
 * and vote only grow, the commit index never falls, committed entries are never truncated, log,
 * pending writes and configurations change together.
 */
import { maxIndex, nextIndex, noIndex } from '../brands.js';
import { decodeConfiguration } from '../configuration/configuration-codec.js';
import { Configurations, isVoter } from '../configuration/configurations.js';
import { isQuorum } from '../configuration/quorum.js';
import type { CoreOptions, InitialState } from '../core-options.js';
import { mark } from '../coverage-marks.js';
import { invariant } from '../invariant.js';
import { entryAfter } from '../log/entry-checksum.js';
import { RaftLog } from '../log/raft-log.js';
import { WriteQueue } from '../log/write-queue.js';
import type { Message } from '../messages.js';
import type {
  Entry,
  EntryKind,
  HardState,
  LogIndex,
  LogPoint,
  MemberId,
  Role,
  SnapshotPoint,
  Term,
} from '../types.js';
import { Outbox } from './outbox.js';

export type ActiveRole = 'leader' | 'candidate' | 'preCandidate' | 'follower';

export class CoreState {
  readonly id: MemberId;
  readonly log: RaftLog;
  readonly writes: WriteQueue;
  readonly configurations: Configurations;
  readonly outbox = new Outbox();
  activeRole: ActiveRole = 'follower';
  leader: MemberId | undefined;
  /** The last leader, since its connection broke: it has probably ended. */
  lostLeader: MemberId | undefined;
  /** Ticks since the start of this process. */
  tick = 0;
  /** Ticks since a leader was heard, a vote was given or an election began. */
  electionElapsed = 0;
  needsSnapshot: boolean;
  /** A snapshot that waits for its installation, or is being installed. */
  installing: SnapshotPoint | undefined;
  admitted: boolean;
  /** What the state has applied; kept by `Delivery`. */
  appliedIndex = noIndex;
  diskLatencyMs = 0;
  /** Append messages whose entries did not match their checksums. */
  damagedAppends = 0;
  private currentTerm: Term;
  private currentVote: MemberId | undefined;
  private committedIndex: LogIndex;
  /** Who was seen to lead, and in which term. */
  private seenLeader: { readonly term: Term; readonly id: MemberId } | undefined;

  constructor(
    readonly options: CoreOptions,
    initial: InitialState,
  ) {
    this.id = options.id;
    this.log = new RaftLog(initial, options);
    this.writes = new WriteQueue(initial.hardState, initial.last.index, options.heldMessagesMax);
    this.configurations = new Configurations(options.id, initial.configurations);
    this.needsSnapshot = initial.needsSnapshot;
    this.admitted = initial.mayVote;
    this.currentTerm = initial.hardState.term;
    this.currentVote = initial.hardState.votedFor;
    const applied = initial.needsSnapshot ? noIndex : initial.appliedIndex;
    this.committedIndex = maxIndex(
      maxIndex(initial.hardState.commitIndex, initial.start.index),
      applied,
    );
    invariant(
      this.committedIndex <= initial.last.index,
      `the log ends at ${initial.last.index}, before ${this.committedIndex}, which is committed`,
    );
    invariant(
      initial.needsSnapshot || applied >= initial.start.index,
      `the log starts after ${initial.start.index} but the state has applied only ${applied}`,
    );
    invariant(initial.last.term <= this.currentTerm, 'the log is of a later term than the vote');
  }

  get term(): Term {
    return this.currentTerm;
  }

  get votedFor(): MemberId | undefined {
    return this.currentVote;
  }

  get commitIndex(): LogIndex {
    return this.committedIndex;
  }

  get hardState(): HardState {
    return { term: this.currentTerm, votedFor: this.currentVote, commitIndex: this.committedIndex };
  }

  get role(): Role {
    const { configurations } = this;
    if (this.activeRole !== 'follower') return this.activeRole;
    if (isVoter(configurations.current, this.id)) return 'follower';
    const isLearner = configurations.current.learners.some((member) => member.id === this.id);
    const removed =
      !isLearner && configurations.seenSelf && configurations.currentIndex <= this.committedIndex;
    return removed ? 'removed' : 'learner';
  }

  /** Whether this replica may campaign (etcd: promotable). */
  get promotable(): boolean {
    return this.admitted && !this.installing && isVoter(this.configurations.current, this.id);
  }

  /** Whether this replica decides alone. */
  get isSoleQuorum(): boolean {
    return isQuorum(this.configurations.current, (id) => id === this.id);
  }

  /**
   * Whether a leader was active within the election timeout and is not lost; a leader is active for
   * itself.
   */
  get hasActiveLeader(): boolean {
    return (
      this.leader !== undefined &&
      this.leader !== this.lostLeader &&
      (this.leader === this.id || this.electionElapsed < this.options.electionTicks)
    );
  }

  raiseTerm(term: Term): void {
    invariant(term > this.currentTerm, `term falls from ${this.currentTerm} to ${term}`);
    this.currentTerm = term;
    this.currentVote = undefined;
    this.writes.markHardStateChanged();
  }

  vote(candidate: MemberId): void {
    if (this.currentVote === candidate) return;
    invariant(this.currentVote === undefined, `a second vote in term ${this.currentTerm}`);
    this.currentVote = candidate;
    this.writes.markHardStateChanged();
  }

  /** One leader a term. */
  recordLeader(id: MemberId): void {
    const seen = this.seenLeader;
    invariant(
      seen?.term !== this.currentTerm || seen.id === id,
      `members ${seen?.id} and ${id} both lead in term ${this.currentTerm}`,
    );
    if (seen?.term !== this.currentTerm) this.seenLeader = { term: this.currentTerm, id };
  }

  commitTo(index: LogIndex): boolean {
    if (index <= this.committedIndex) return false;
    invariant(
      index <= this.log.last.index,
      `entry ${index} is committed, but this log ends at ${this.log.last.index}: it has lost entries`,
    );
    this.committedIndex = index;
    invariant(this.appliedIndex <= index, 'the state has applied more than is committed');
    return true;
  }

  /** Appends the next entry of the own term. */
  appendOwn(kind: EntryKind, data: Buffer): Entry {
    invariant(this.activeRole === 'leader', 'a replica that does not lead creates an entry');
    const entry = entryAfter(this.log.last, this.currentTerm, kind, data);
    this.append(entry);
    invariant(this.log.last === entry, 'an appended entry does not end the log');
    return entry;
  }

  append(entry: Entry): void {
    invariant(entry.term <= this.currentTerm, 'an entry is of a later term than this replica');
    invariant(!this.installing, 'an entry is appended while a snapshot is installed');
    this.log.append(entry);
    this.writes.append(entry);
    if (entry.kind === 'configuration') {
      this.configurations.append(entry.index, decodeConfiguration(entry.data));
    }
  }

  /** Drops everything after `last`, which both logs share. */
  truncateAfter(last: LogPoint): void {
    const from = nextIndex(last.index);
    invariant(this.activeRole !== 'leader', 'a leader truncates its own log');
    invariant(from > this.committedIndex, `a leader truncates ${from}, which is committed`);
    this.log.truncateAfter(last);
    this.writes.truncateFrom(from);
    if (this.configurations.currentIndex >= from) {
      mark('configurationRolledBack');
      this.configurations.truncateFrom(from);
    }
  }

  /** Sends immediately: the message promises nothing durable. */
  send(message: Message): void {
    invariant(message.from === this.id, 'a message claims to be from another member');
    this.outbox.messages.push(message);
  }

  /** Sends once term, vote and the log up to `index` are durable. */
  sendDurable(message: Message, index: LogIndex = noIndex): void {
    invariant(message.from === this.id, 'a message claims to be from another member');
    invariant(index <= this.log.last.index, 'a message waits for an entry that does not exist');
    if (!this.writes.holdUntilDurable(message, index)) this.outbox.messages.push(message);
  }
}
