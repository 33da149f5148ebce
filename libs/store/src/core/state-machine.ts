/**
 * The replicated state machine: a multi-version key-value map. Pure and deterministic: no clock,
 * I/O or promises; the same commands in the same order give the same state and the same hash.
 *
 * Invariants: the revision grows by one with each command that changes a key, and by no other; a
 * command id is applied at most once, and only if its proposer is registered; the store's time
 * never decreases. The shell writes records, wakes waiters and ends watches, from the result of
 * `apply`.
 */
import { invariant, verify } from '@orch/component';
import { crc32c } from '@orch/raft';
import { operationsMax, ringBytesMax, ringEventsMax } from '../limits.js';
import {
  type CommitResult,
  type Entry,
  type Expectation,
  type Operation,
  type Revision,
  StoreError,
} from '../versioned-store.js';
import { type Command, decodeCommand, type HashReport } from './command.js';
import { isApplicable } from './commit-rules.js';
import { EventRing, type StoreEvent } from './event-ring.js';
import { ExpiryIndex } from './expiry-index.js';
import { KeySpace } from './key-space.js';
import { ProposerTable, type Registration } from './proposer-table.js';
import type { VersionRecord } from './record.js';
import type { SequenceWindow } from './sequence-window.js';
import { StoredEntry, spliceRevision } from './stored-entry.js';

/** Positions and sums that must agree with the records; written in one batch with them. */
export interface Facts {
  readonly appliedIndex: number;
  readonly revision: number;
  readonly compactedRevision: number;
  /** The store's own time: the highest time of an applied command. */
  readonly timeMs: number;
  /** Running hash over every change since the beginning. */
  readonly hash: number;
  /** Over the records of the proposers. */
  readonly proposersChecksum: number;
  /** Sums over the live keys; a restored state must have the same. */
  readonly keyCount: number;
  readonly liveBytes: number;
  /** Sum of their revisions: differs if a key was restored in an older version. */
  readonly liveRevisions: number;
}

/** The facts of an empty state. */
export const emptyFacts: Facts = {
  appliedIndex: 0,
  revision: 0,
  compactedRevision: 0,
  timeMs: 0,
  hash: 0,
  proposersChecksum: 0,
  keyCount: 0,
  liveBytes: 0,
  liveRevisions: 0,
};

export interface Applied {
  /** From the id of the command. */
  readonly proposer: string;
  readonly sequence: number;
  /**
   * Undefined: the command was not applied, because its proposer is not registered or no correct
   * proposer creates such a command.
   */
  readonly result: CommitResult | undefined;
  /** The events of the revision that the command created; empty if it changed nothing. */
  readonly events: readonly StoreEvent[];
  readonly registration?: Registration;
  readonly report?: HashReport;
}

const noEvents: readonly StoreEvent[] = [];

export class StateMachine {
  readonly keys = new KeySpace();
  readonly expiry = new ExpiryIndex();
  readonly ring: EventRing;
  readonly proposers = new ProposerTable();
  revision = 0 as Revision;
  compactedRevision = 0 as Revision;
  /** Local to this replica: after a crash its disk may lack history above `compactedRevision`. */
  historyFloor = 0;
  appliedIndex = 0;
  timeMs = 0;
  hash = 0;
  private readonly hashBlock = Buffer.alloc(24);

  constructor(eventsMax = ringEventsMax, bytesMax = ringBytesMax) {
    this.ring = new EventRing(eventsMax, bytesMax);
  }

  /** Oldest revision that this replica can read exactly or watch from. */
  get oldestRevision(): Revision {
    return Math.max(this.compactedRevision, this.historyFloor) as Revision;
  }

  get facts(): Facts {
    const { appliedIndex, revision, compactedRevision, timeMs, hash } = this;
    const { keyCount, liveBytes, liveRevisions } = this.keys;
    const proposersChecksum = this.proposers.checksum;
    return {
      appliedIndex,
      revision,
      compactedRevision,
      timeMs,
      hash,
      proposersChecksum,
      keyCount,
      liveBytes,
      liveRevisions,
    };
  }

  /**
   * Applies the next entry of the log. Returns undefined if the entry belongs to the log itself or
   * its command was applied before.
   */
  apply(index: number, bytes: Buffer): Applied | undefined {
    invariant(index === this.appliedIndex + 1, 'an entry is applied out of order', {
      index,
      appliedIndex: this.appliedIndex,
    });
    if (bytes.length === 0) {
      this.appliedIndex = index;
      return undefined;
    }
    const command = decodeCommand(bytes);
    this.appliedIndex = index;
    const { proposer, sequence } = command.id;
    if (command.kind === 'register') return this.register(command, index);
    const window = sequence > 0 ? this.proposers.touch(proposer, index) : undefined;
    if (!window) return { proposer, sequence, result: undefined, events: noEvents };
    if (!window.admit(sequence)) return undefined;
    this.timeMs = Math.max(this.timeMs, command.timeMs);
    const before = this.revision;
    const result = this.execute(command);
    invariant(this.revision - before <= 1, 'a command creates several revisions');
    invariant(window.hasSeen(sequence), 'an applied command is not recorded');
    invariant(
      this.compactedRevision <= this.revision,
      'a revision ahead of the state is compacted',
    );
    const events = this.revision > before ? this.ring.commit(this.revision) : noEvents;
    invariant(events !== undefined, 'the event ring lacks the newest revision');
    if (command.kind !== 'hash') return { proposer, sequence, result, events };
    const { index: at, hash, member } = command;
    return { proposer, sequence, result, events, report: { index: at, hash, member } };
  }

  /** Adds a record read from disk at start, in order of revision. */
  restore(record: VersionRecord): void {
    const { entry, deleted } = record;
    invariant(this.revision === 0, 'a record is restored into a state with revisions');
    invariant(this.appliedIndex === 0, 'a record is restored into a state in use', {
      appliedIndex: this.appliedIndex,
    });
    const previous = this.keys.get(entry.key);
    if (previous) this.expiry.remove(previous);
    if (deleted) {
      // A compaction may have dropped the versions before the crash, and not yet the tombstone.
      if (previous) this.keys.remove(entry);
      else this.keys.orphan(entry);
      return;
    }
    this.keys.put(entry);
    this.expiry.add(entry);
  }

  /**
   * Completes the restoration with the facts that were written with the records. Throws StoreError
   * `Corrupt` if they differ.
   */
  restored(facts: Facts, proposers: ReadonlyMap<string, SequenceWindow>): void {
    const { keyCount, liveBytes, liveRevisions } = this.keys;
    if (
      keyCount !== facts.keyCount ||
      liveBytes !== facts.liveBytes ||
      liveRevisions !== facts.liveRevisions
    ) {
      throw new StoreError(
        'Corrupt',
        `the state holds ${keyCount} keys of ${liveBytes} bytes where ${facts.keyCount} of ${facts.liveBytes} were written, or older versions of them: restore this data directory from a backup or another replica`,
      );
    }
    this.proposers.restore(proposers, facts.proposersChecksum);
    invariant(facts.compactedRevision <= facts.revision, 'stored facts compact the future');
    this.appliedIndex = facts.appliedIndex;
    this.revision = facts.revision as Revision;
    this.compactedRevision = facts.compactedRevision as Revision;
    this.timeMs = facts.timeMs;
    this.hash = facts.hash;
    invariant(this.historyFloor <= facts.revision, 'history begins after the newest revision');
    // The newest record can be older: a compaction drops the tombstones of deleted keys.
    if (!this.ring.reaches(facts.revision)) this.ring.reset(facts.revision);
  }

  private register(command: Command, index: number): Applied {
    const { proposer: nonce, sequence } = command.id;
    const registration = this.proposers.register(nonce, index);
    this.mix(index, 3, 0, 0);
    invariant(
      this.proposers.get(registration.proposer)?.lastIndex === index,
      'a registered proposer is not in the table',
    );
    const result = { succeeded: true, revision: this.revision, entries: [] } as const;
    return { proposer: nonce, sequence, result, events: noEvents, registration };
  }

  /** Returns undefined for a commit that cannot be applied. */
  private execute(command: Exclude<Command, { kind: 'register' }>): CommitResult | undefined {
    switch (command.kind) {
      case 'txn':
        return this.transact(command.operations);
      case 'expire':
        return this.expire();
      case 'compact':
        // The shell rejects revisions ahead of the state before it proposes them.
        if (command.revision > this.compactedRevision && command.revision <= this.revision) {
          this.compactedRevision = command.revision;
          this.mix(command.revision, 2, 0, 0);
        }
        return { succeeded: true, revision: this.revision, entries: [] };
      case 'hash':
        return { succeeded: true, revision: this.revision, entries: [] };
    }
  }

  private transact(operations: readonly Operation[]): CommitResult | undefined {
    for (const [position, operation] of operations.entries()) {
      const current = this.keys.get(operation.key);
      if (operation.expect && !holds(operation.expect, current)) {
        return { succeeded: false, revision: this.revision, failedOperation: position, current };
      }
    }
    if (!isApplicable(operations, this.timeMs)) return undefined;
    const revision = (this.revision + 1) as Revision;
    const events: StoreEvent[] = [];
    const entries: (Entry | undefined)[] = [];
    for (const operation of operations) {
      const event = this.operate(operation, revision, events.length);
      entries.push(event?.entry);
      if (event) events.push(event);
    }
    invariant(entries.length === operations.length, 'an operation has no result');
    this.commit(revision, events);
    return { succeeded: true, revision: this.revision, entries };
  }

  private operate(
    operation: Operation,
    revision: Revision,
    position: number,
  ): StoreEvent | undefined {
    if (operation.kind === 'check') return undefined;
    const { key } = operation;
    const previous = this.keys.get(key);
    invariant(previous === undefined || previous.revision < revision, 'a key changes twice');
    if (operation.kind === 'put') {
      const { bytes, revisionOffset = 0, timeToLiveMs } = operation;
      const entry = new StoredEntry(
        key,
        spliceRevision(bytes, revisionOffset, revision),
        previous?.createRevision ?? revision,
        revision,
        position,
        revisionOffset,
        timeToLiveMs === undefined ? 0 : this.timeMs + timeToLiveMs,
      );
      return this.put(previous, entry);
    }
    if (!previous) return undefined;
    const { lastBytes, revisionOffset = 0 } = operation;
    if (!lastBytes) return this.delete(previous, revision, position);
    const bytes = spliceRevision(lastBytes, revisionOffset, revision);
    return this.remove(previous, bytes, revision, position, revisionOffset);
  }

  /** Deletes without a last version: watches get the stored one with the deletion's revision. */
  private delete(previous: StoredEntry, revision: Revision, position: number): StoreEvent {
    const { revisionOffset } = previous;
    const replacedBytes = String(previous.revision).length;
    const bytes = spliceRevision(previous.bytes, revisionOffset, revision, replacedBytes);
    return this.remove(previous, bytes, revision, position, revisionOffset);
  }

  private put(previous: StoredEntry | undefined, entry: StoredEntry): StoreEvent {
    invariant(
      entry.createRevision === (previous?.createRevision ?? entry.revision),
      'an overwritten key has another creation revision',
    );
    if (previous) this.expiry.remove(previous);
    this.keys.put(entry);
    this.expiry.add(entry);
    const { revision, key } = entry;
    return { revision, kind: 'put', key, previous, entry, derived: undefined };
  }

  private remove(
    previous: StoredEntry,
    bytes: Buffer,
    revision: Revision,
    position: number,
    revisionOffset: number,
  ): StoreEvent {
    const { key, createRevision } = previous;
    const entry = new StoredEntry(
      key,
      bytes,
      createRevision,
      revision,
      position,
      revisionOffset,
      0,
    );
    this.expiry.remove(previous);
    this.keys.remove(entry);
    invariant(this.keys.get(key) === undefined, 'a deleted key is still live', { key });
    return { revision, kind: 'delete', key, previous, entry, derived: undefined };
  }

  private expire(): CommitResult {
    const revision = (this.revision + 1) as Revision;
    const due = this.expiry.due(this.timeMs, operationsMax);
    const events = due.map((key, position) => {
      const entry = this.keys.get(key);
      invariant(entry !== undefined, 'the expiry index has a key that is not live', { key });
      invariant(entry.expiresAtMs <= this.timeMs, 'a key expires before its time', { key });
      return this.delete(entry, revision, position);
    });
    this.commit(revision, events);
    return { succeeded: true, revision: this.revision, entries: events.map(({ entry }) => entry) };
  }

  private commit(revision: Revision, events: readonly StoreEvent[]): void {
    if (events.length === 0) return;
    invariant(revision === this.revision + 1, 'the revision does not grow by one');
    verify(
      () => events.every(({ entry }) => showsRevision(entry)),
      'the bytes of an entry lack its revision',
    );
    this.revision = revision;
    this.ring.append(revision, events);
    for (const { entry, kind } of events) {
      this.mix(entry.revision, kind === 'delete' ? 1 : 0, entry.checksum, entry.expiresAtMs);
      this.hash = crc32c(Buffer.from(entry.key), this.hash);
    }
  }

  private mix(revision: number, kind: number, checksum: number, expiresAtMs: number): void {
    const block = this.hashBlock;
    invariant(revision >= 0 && expiresAtMs >= 0, 'a negative number is hashed');
    block.writeUIntBE(revision, 0, 6);
    block.writeUIntBE(expiresAtMs, 6, 6);
    block.writeUInt32BE(checksum, 12);
    block[16] = kind;
    this.hash = crc32c(block, this.hash);
  }
}

/** Whether the bytes of `entry` have its revision at their offset. */
function showsRevision({ bytes, revision, revisionOffset }: StoredEntry): boolean {
  if (revisionOffset === 0) return true;
  const decimal = String(revision);
  return bytes.toString('latin1', revisionOffset, revisionOffset + decimal.length) === decimal;
}

function holds(expect: Expectation, current: StoredEntry | undefined): boolean {
  return expect.kind === 'absent' ? current === undefined : current?.revision === expect.revision;
}
