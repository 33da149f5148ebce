/**
 * A replica for tests of the core: a core with a minimal disk, state and snapshot. It checks
 * outgoing messages against its disk: a promise must be durable before it is sent. Nothing happens
 * by itself; the test decides when a write is done or a message arrives.
 */
import { asLogIndex, asTerm, branded, noIndex } from '../brands.js';
import { decodeConfiguration } from '../configuration/configuration-codec.js';
import type { CoreOptions, InitialState } from '../core-options.js';
import { invariant } from '../invariant.js';
import { logOrigin } from '../log/entry-checksum.js';
import type { Message } from '../messages.js';
import type {
  MembershipResult,
  Output,
  ReadRequest,
  TransferResult,
  WriteRequest,
} from '../output.js';
import { RaftCore } from '../raft-core.js';
import type {
  Configuration,
  Entry,
  HardState,
  LogIndex,
  LogPoint,
  MemberId,
  SnapshotPoint,
} from '../types.js';

/** What outlives a crash. */
export interface TestDisk {
  hardState: HardState;
  start: LogPoint;
  startConfiguration: Configuration;
  entries: Entry[];
  /** What the state had applied when it was last flushed. */
  appliedIndex: LogIndex;
  admitted: boolean;
  needsSnapshot: boolean;
}

export const emptyConfiguration: Configuration = { voters: [], learners: [] };

export function emptyDisk(configuration: Configuration): TestDisk {
  return {
    hardState: { term: asTerm(0), votedFor: undefined, commitIndex: noIndex },
    start: logOrigin,
    startConfiguration: configuration,
    entries: [],
    appliedIndex: noIndex,
    admitted: true,
    needsSnapshot: false,
  };
}

/** Collected from every output, for tests to inspect. */
export interface Seen {
  committed: Entry[];
  readStates: Output['readStates'][number][];
  refusals: Output['refusals'][number][];
  membershipResults: MembershipResult[];
  transferResults: TransferResult[];
  snapshotsRefused: SnapshotPoint[];
  leadership: Output['leadership'][];
  configurations: Configuration[];
}

export class TestReplica {
  core: RaftCore;
  /** In progress; `finishWrite` brings it to disk. */
  write: WriteRequest | undefined;
  reads: ReadRequest[] = [];
  snapshotsToSend: MemberId[] = [];
  install: SnapshotPoint | undefined;
  /** Handed to the state and not yet applied: the last index. */
  delivered: LogIndex;
  outgoing: Message[] = [];
  seen: Seen = emptySeen();

  constructor(
    readonly id: MemberId,
    readonly disk: TestDisk,
    private readonly options: CoreOptions,
    private readonly onCommitted: (entry: Entry) => void = () => undefined,
  ) {
    this.core = new RaftCore(options, initialState(disk, options));
    this.delivered = disk.appliedIndex;
  }

  /** Loses everything that is not on disk. `writeDone`: the write in progress reached it. */
  restart(writeDone = false): void {
    if (writeDone && this.write) this.store(this.write);
    this.write = undefined;
    this.reads = [];
    this.snapshotsToSend = [];
    this.install = undefined;
    this.outgoing = [];
    this.seen = emptySeen();
    this.core = new RaftCore(this.options, initialState(this.disk, this.options));
    this.delivered = this.disk.appliedIndex;
  }

  /** Takes the core's output; messages to send are in `outgoing` afterwards. */
  pump(): void {
    const output = this.core.takeOutput();
    if (output.write) {
      invariant(this.write === undefined, 'two writes in progress');
      invariant(this.install === undefined, 'a write during an installation');
      this.write = output.write;
    }
    for (const message of output.messages) this.checkDurable(message);
    this.outgoing.push(...output.messages);
    for (const entry of output.committed) {
      invariant(entry.index === this.delivered + 1, `delivery of ${entry.index} is out of order`);
      invariant(
        entry.index <= this.lastDurableIndex,
        'an entry was delivered before it was durable',
      );
      this.delivered = entry.index;
      this.onCommitted(entry);
    }
    this.reads.push(...output.reads);
    this.snapshotsToSend.push(...output.snapshotsToSend);
    if (output.install) {
      invariant(this.write === undefined, 'an installation during a write');
      this.install = output.install;
    }
    this.note(output);
  }

  finishWrite(): void {
    const { write } = this;
    if (!write) return;
    this.write = undefined;
    this.store(write);
    this.core.handle({ kind: 'written', id: write.id });
  }

  /** The state applies all that was delivered. */
  apply(): void {
    if (this.delivered > this.core.status().appliedIndex) {
      this.core.handle({ kind: 'applied', index: this.delivered });
    }
  }

  /** The state's progress reaches the disk. */
  flushState(): void {
    const { appliedIndex } = this.core.status();
    if (appliedIndex > this.disk.appliedIndex) this.disk.appliedIndex = appliedIndex;
  }

  finishRead(): void {
    const request = this.reads.shift();
    if (!request) return;
    const entries: Entry[] = [];
    let byteCount = 0;
    for (let at = 0; request.from + at <= request.to; at += 1) {
      const entry = this.entryAt(asLogIndex(request.from + at));
      if (!entry) break;
      byteCount += entry.data.length;
      if (entries.length > 0 && byteCount > request.bytesMax) break;
      entries.push(entry);
    }
    const found = entries.length > 0 ? entries : undefined;
    this.core.handle({ kind: 'entriesRead', request, entries: found });
  }

  /** Undefined: a snapshot cannot be made now. */
  makeSnapshot(): SnapshotPoint | undefined {
    const { appliedIndex } = this.core.status();
    const point =
      appliedIndex === this.disk.start.index ? this.disk.start : this.entryAt(appliedIndex);
    const configuration = this.core.configurationAt(appliedIndex);
    if (!point || !configuration || this.disk.needsSnapshot) return undefined;
    return { index: point.index, term: point.term, checksum: point.checksum, configuration };
  }

  finishInstall(): void {
    const point = this.install;
    if (!point) return;
    this.install = undefined;
    const { disk } = this;
    const same = point.index === disk.start.index ? disk.start : this.entryAt(point.index);
    const keeps = same?.term === point.term;
    disk.entries = keeps ? disk.entries.filter((entry) => entry.index > point.index) : [];
    disk.startConfiguration = keeps
      ? (this.core.configurationAt(point.index) ?? point.configuration)
      : point.configuration;
    disk.start = { index: point.index, term: point.term, checksum: point.checksum };
    disk.appliedIndex = point.index;
    disk.needsSnapshot = false;
    this.delivered = point.index;
    this.core.handle({ kind: 'snapshotInstalled', point });
  }

  /** Compacts the log up to the applied index on disk, minus `keep` entries. */
  cut(keep = 0): void {
    if (this.install || this.write) return;
    const { disk } = this;
    const entry = this.entryAt(disk.appliedIndex - keep);
    if (!entry) return;
    const point = { index: entry.index, term: entry.term, checksum: entry.checksum };
    disk.startConfiguration = this.core.configurationAt(point.index)!;
    disk.entries = disk.entries.filter((other) => other.index > point.index);
    disk.start = point;
    this.core.handle({ kind: 'compacted', point });
  }

  entryAt(index: number): Entry | undefined {
    return this.disk.entries[index - this.disk.start.index - 1];
  }

  get lastDurableIndex(): LogIndex {
    return this.disk.entries.at(-1)?.index ?? this.disk.start.index;
  }

  private store(write: WriteRequest): void {
    const { disk } = this;
    if (write.truncateFrom !== undefined) {
      const { truncateFrom } = write;
      disk.entries = disk.entries.filter((entry) => entry.index < truncateFrom);
    }
    for (const entry of write.entries) {
      invariant(entry.index === this.lastDurableIndex + 1, 'a write leaves a gap in the log');
      disk.entries.push(entry);
    }
    if (write.hardState) disk.hardState = write.hardState;
  }

  private checkDurable(message: Message): void {
    const { hardState } = this.disk;
    const promises =
      (message.kind === 'voteResponse' && !(message.preVote && message.granted)) ||
      (message.kind === 'voteRequest' && !message.preVote) ||
      message.kind === 'appendResponse' ||
      message.kind === 'appendRequest' ||
      message.kind === 'heartbeatResponse';
    if (!promises) return;
    invariant(
      hardState.term >= message.term,
      `${message.kind} was sent before its term was durable`,
    );
    if (message.kind === 'voteResponse' && message.granted) {
      invariant(hardState.votedFor === message.to, 'a vote was sent before it was durable');
    }
    if (message.kind === 'voteRequest') {
      invariant(hardState.votedFor === this.id, 'votes were requested before the own was durable');
    }
    if (message.kind === 'appendResponse' && message.accepted) {
      invariant(message.matchIndex <= this.lastDurableIndex, 'acknowledged before it was durable');
    }
  }

  private note(output: Output): void {
    const { seen } = this;
    seen.committed.push(...output.committed);
    seen.readStates.push(...output.readStates);
    seen.refusals.push(...output.refusals);
    seen.membershipResults.push(...output.membershipResults);
    seen.transferResults.push(...output.transferResults);
    seen.snapshotsRefused.push(...output.snapshotsRefused);
    if (output.leadership) seen.leadership.push(output.leadership);
    if (output.configuration) seen.configurations.push(output.configuration);
  }
}

function emptySeen(): Seen {
  return {
    committed: [],
    readStates: [],
    refusals: [],
    membershipResults: [],
    transferResults: [],
    snapshotsRefused: [],
    leadership: [],
    configurations: [],
  };
}

function initialState(disk: TestDisk, options: CoreOptions): InitialState {
  const last = disk.entries.at(-1) ?? disk.start;
  const terms: { firstIndex: LogIndex; term: number }[] = [];
  const configurations = [{ index: disk.start.index, configuration: disk.startConfiguration }];
  for (const entry of disk.entries) {
    if (terms.at(-1)?.term !== entry.term)
      terms.push({ firstIndex: entry.index, term: entry.term });
    if (entry.kind === 'configuration') {
      configurations.push({
        index: entry.index,
        configuration: decodeConfiguration(entry.data),
      });
    }
  }
  return {
    hardState: disk.hardState,
    configurations,
    start: disk.start,
    last: { index: last.index, term: last.term, checksum: last.checksum },
    terms: branded(terms),
    tail: disk.entries.slice(-options.cacheEntriesMax),
    appliedIndex: disk.appliedIndex,
    needsSnapshot: disk.needsSnapshot,
    mayVote: disk.admitted,
  };
}
