/**
 * The replicated state machine: a multi-version key-value map. Pure and deterministic: no clock,
 * I/O or promises; the same commands in the same order give the same state and the same hash.
 *
 * Invariants: the revision grows by one with each command that changes a key and by nothing else;
 * a command id is applied at most once, and only of a proposer that is registered; the store's time
 * never falls. Bringing records to disk, waking waiters and ending watches is left to the shell,
 * which learns all it needs from `apply`.
 */
import { crc32c } from '@orch/raft';
import { OPERATIONS_MAX, RING_BYTES_MAX, RING_EVENTS_MAX } from '../limits.js';
import {
  type CommitResult,
  type Entry,
  type Expectation,
  type Operation,
  type Revision,
  StoreError,
} from '../versioned-store.js';
import { type Command, decodeCommand, type HashReport } from './command.js';
import { EventRing, type StoreEvent } from './event-ring.js';
import { ExpiryIndex } from './expiry-index.js';
import { KeySpace } from './key-space.js';
import { ProposerTable, type Registration } from './proposer-table.js';
import type { VersionRecord } from './record.js';
import type { SequenceWindow } from './sequence-window.js';
import { StoredEntry, spliceRevision } from './stored-entry.js';

/** The facts that must agree with the records: written in one batch with them. */
export interface Facts {
  readonly appliedIndex: number;
  readonly revision: number;
  readonly compactedRevision: number;
  /** The store's own time: the highest that a command brought. */
  readonly timeMs: number;
  /** Running hash over every change since the beginning. */
  readonly hash: number;
  /** Over what is noted of the proposers. */
  readonly proposersChecksum: number;
  /** Sums over the live keys, which a restored state must show again. */
  readonly keyCount: number;
  readonly liveBytes: number;
  /** Of their revisions: tells an older version of a key from the one that was lost. */
  readonly liveRevisions: number;
}

/** Of a state that has nothing yet. */
export const EMPTY_FACTS: Facts = {
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
  /** As in the command's id. */
  readonly proposer: string;
  readonly sequence: number;
  /** Undefined: its proposer is not registered (any more), so nothing was applied. */
  readonly result: CommitResult | undefined;
  /** Of the revision that the command made; empty when it changed nothing. */
  readonly events: readonly StoreEvent[];
  readonly registration?: Registration;
  readonly report?: HashReport;
}

const NO_EVENTS: readonly StoreEvent[] = [];

export class StateMachine {
  readonly keys = new KeySpace();
  readonly expiry = new ExpiryIndex();
  readonly ring: EventRing;
  readonly proposers = new ProposerTable();
  revision = 0 as Revision;
  compactedRevision = 0 as Revision;
  /** Of this replica alone: after a crash its disk may lack history that its log has yet to compact. */
  historyFloor = 0;
  appliedIndex = 0;
  timeMs = 0;
  hash = 0;
  readonly #hashBlock = Buffer.alloc(24);

  constructor(ringEventsMax = RING_EVENTS_MAX, ringBytesMax = RING_BYTES_MAX) {
    this.ring = new EventRing(ringEventsMax, ringBytesMax);
  }

  /** History below it is gone here. */
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
   * Applies the next entry of the log; undefined when it is one of the log's own or its command had
   * been applied before.
   */
  apply(index: number, bytes: Buffer): Applied | undefined {
    if (index !== this.appliedIndex + 1) {
      throw new Error(`invariant broken: entry ${index} applied after ${this.appliedIndex}`);
    }
    if (bytes.length === 0) {
      this.appliedIndex = index;
      return undefined;
    }
    const command = decodeCommand(bytes);
    this.appliedIndex = index;
    const { proposer, sequence } = command.id;
    if (command.kind === 'register') return this.#register(command, index);
    const window = this.proposers.touch(proposer, index);
    if (!window) return { proposer, sequence, result: undefined, events: NO_EVENTS };
    if (!window.admit(sequence)) return undefined;
    this.timeMs = Math.max(this.timeMs, command.timeMs);
    const before = this.revision;
    const result = this.#execute(command);
    const events = this.revision > before ? this.ring.commit(this.revision)! : NO_EVENTS;
    if (command.kind !== 'hash') return { proposer, sequence, result, events };
    const { index: at, hash, member } = command;
    return { proposer, sequence, result, events, report: { index: at, hash, member } };
  }

  /** Takes over a record found on disk at start, in the order of revisions. */
  restore(record: VersionRecord): void {
    const { entry, deleted } = record;
    const previous = this.keys.get(entry.key);
    if (previous) this.expiry.remove(previous);
    if (deleted) {
      // A compaction may have dropped what was deleted before the crash, and not yet the tombstone.
      if (previous) this.keys.remove(entry);
      else this.keys.orphan(entry);
      return;
    }
    this.keys.put(entry);
    this.expiry.add(entry);
  }

  /** Ends the restoration with the facts that were written with the records. */
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
    this.appliedIndex = facts.appliedIndex;
    this.revision = facts.revision as Revision;
    this.compactedRevision = facts.compactedRevision as Revision;
    this.timeMs = facts.timeMs;
    this.hash = facts.hash;
    this.ring.reset(facts.revision);
  }

  #register(command: Command, index: number): Applied {
    const { proposer: nonce, sequence } = command.id;
    const registration = this.proposers.register(nonce, index);
    this.#mix(index, 3, 0, 0);
    const result = { succeeded: true, revision: this.revision, entries: [] } as const;
    return { proposer: nonce, sequence, result, events: NO_EVENTS, registration };
  }

  #execute(command: Exclude<Command, { kind: 'register' }>): CommitResult {
    switch (command.kind) {
      case 'txn':
        return this.#transact(command.operations);
      case 'expire':
        return this.#expire();
      case 'compact':
        // Revisions ahead of the state are refused before they are proposed.
        if (command.revision > this.compactedRevision && command.revision <= this.revision) {
          this.compactedRevision = command.revision;
          this.#mix(command.revision, 2, 0, 0);
        }
        return { succeeded: true, revision: this.revision, entries: [] };
      case 'hash':
        return { succeeded: true, revision: this.revision, entries: [] };
    }
  }

  #transact(operations: readonly Operation[]): CommitResult {
    for (const [position, operation] of operations.entries()) {
      const current = this.keys.get(operation.key);
      if (operation.expect && !holds(operation.expect, current)) {
        return { succeeded: false, revision: this.revision, failedOperation: position, current };
      }
    }
    const revision = (this.revision + 1) as Revision;
    const events: StoreEvent[] = [];
    const entries: (Entry | undefined)[] = [];
    for (const operation of operations) {
      const event = this.#operate(operation, revision, events.length);
      entries.push(event?.entry);
      if (event) events.push(event);
    }
    this.#commit(revision, events);
    return { succeeded: true, revision: this.revision, entries };
  }

  #operate(operation: Operation, revision: Revision, position: number): StoreEvent | undefined {
    if (operation.kind === 'check') return undefined;
    const { key } = operation;
    const previous = this.keys.get(key);
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
      return this.#put(previous, entry);
    }
    if (!previous) return undefined;
    const { lastBytes, revisionOffset = 0 } = operation;
    if (!lastBytes) return this.#delete(previous, revision, position);
    const bytes = spliceRevision(lastBytes, revisionOffset, revision);
    return this.#remove(previous, bytes, revision, position, revisionOffset);
  }

  /** Watchers of a deletion without a last version get the stored one with the deletion's revision. */
  #delete(previous: StoredEntry, revision: Revision, position: number): StoreEvent {
    const { revisionOffset } = previous;
    const replacedBytes = String(previous.revision).length;
    const bytes = spliceRevision(previous.bytes, revisionOffset, revision, replacedBytes);
    return this.#remove(previous, bytes, revision, position, revisionOffset);
  }

  #put(previous: StoredEntry | undefined, entry: StoredEntry): StoreEvent {
    if (previous) this.expiry.remove(previous);
    this.keys.put(entry);
    this.expiry.add(entry);
    const { revision, key } = entry;
    return { revision, kind: 'put', key, previous, entry, derived: undefined };
  }

  #remove(
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
    return { revision, kind: 'delete', key, previous, entry, derived: undefined };
  }

  #expire(): CommitResult {
    const revision = (this.revision + 1) as Revision;
    const due = this.expiry.due(this.timeMs, OPERATIONS_MAX);
    const events = due.map((key, position) =>
      this.#delete(this.keys.get(key)!, revision, position),
    );
    this.#commit(revision, events);
    return { succeeded: true, revision: this.revision, entries: events.map(({ entry }) => entry) };
  }

  #commit(revision: Revision, events: readonly StoreEvent[]): void {
    if (events.length === 0) return;
    this.revision = revision;
    this.ring.append(revision, events);
    for (const { entry, kind } of events) {
      this.#mix(entry.revision, kind === 'delete' ? 1 : 0, entry.checksum, entry.expiresAtMs);
      this.hash = crc32c(Buffer.from(entry.key), this.hash);
    }
  }

  #mix(revision: number, kind: number, checksum: number, expiresAtMs: number): void {
    const block = this.#hashBlock;
    block.writeUIntBE(revision, 0, 6);
    block.writeUIntBE(expiresAtMs, 6, 6);
    block.writeUInt32BE(checksum, 12);
    block[16] = kind;
    this.hash = crc32c(block, this.hash);
  }
}

function holds(expect: Expectation, current: StoredEntry | undefined): boolean {
  return expect.kind === 'absent' ? current === undefined : current?.revision === expect.revision;
}
