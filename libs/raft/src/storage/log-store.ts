/**
 * The log of one replica in a database of any disk. Invariants: a new start is durable before an
 * entry before it is deleted; a log that is not complete at `load` is refused; everything read is
 * checked. Consensus decides the writes; this checks only that they continue the log.
 */

import type { LoopClock } from '@orch/component';
import { asLogIndex } from '../core/brands.js';
import type { WriteRequest } from '../core/output.js';
import type { Entry, LogIndex, LogPoint, MemberId, SnapshotPoint } from '../core/types.js';
import { LogError } from '../replicated-log.js';
import type { Change, Database, Disk } from './disk/disk.js';
import { EntryReader, pointOf } from './entry-reader.js';
import { planBatch } from './log-batch.js';
import {
  admittedKey,
  entryKey,
  identityKey,
  indexOfKey,
  peerKey,
  putFact,
  startKey,
} from './log-codec.js';
import { LogFiles } from './log-files.js';
import { corruptLog, hardStateOf, type LogHead } from './log-head.js';
import type { CacheBounds, ConfigurationAt } from './log-scan.js';
import { planStartAfter, planStartOver } from './log-start.js';
import { type LogContents, LogRecovery } from './recover-log.js';
import { type Identity, type RecoveredLog, removedMark } from './stored-log.js';

export interface LogStoreOptions extends CacheBounds {
  readonly disk: Disk;
  readonly directory: string;
  readonly clock: LoopClock;
}

/** The facts on disk, in memory. Changed only after the disk has changed. */
interface LogFacts {
  start: SnapshotPoint;
  head: LogHead;
  configurations: readonly ConfigurationAt[];
  readonly peers: Map<MemberId, string>;
}

export class LogStore {
  private opened: LogFiles | undefined;
  private known: LogFacts | undefined;
  /** Entries above it are being written or replaced: not to be read now. */
  private readableTo = 0;

  constructor(private readonly options: LogStoreOptions) {}

  /**
   * Undefined in a new directory: `create` must follow. Rejects with LogError `BadDirectory` or
   * `Corrupt`.
   */
  async load(): Promise<RecoveredLog | undefined> {
    if (this.opened) throw new LogError('Stopped', 'a log is loaded once');
    const { disk, directory, clock } = this.options;
    const files = await LogFiles.open(disk, directory, clock);
    this.opened = files;
    try {
      const loader = new LogRecovery(files.database, directory, clock, this.options);
      const loaded = await loader.load(files.mark.initial);
      if (!loaded) return undefined;
      await this.removeLeftovers(files, loaded);
      return this.take(loaded);
    } catch (error) {
      await files.close();
      throw error;
    }
  }

  /** Makes a new log that begins after `start`. */
  async create(identity: Identity, start: SnapshotPoint, admitted: boolean): Promise<RecoveredLog> {
    const files = this.files();
    if (this.known) throw new LogError('BadDirectory', 'the directory holds a log already');
    const { index, term, checksum } = start;
    const head: LogHead = {
      sequence: 1,
      term,
      commitIndex: index,
      last: { index, term, checksum },
    };
    const changes = [putFact(identityKey, identity), putFact(startKey, start)];
    if (admitted) changes.push(putFact(admittedKey, {}));
    await files.exclusively(() => files.commit(changes, head));
    return this.take({
      identity,
      admitted,
      start,
      head,
      peers: new Map(),
      configurations: [],
      terms: [],
      tail: [],
    });
  }

  /** One synced batch. One at a time. A rejection leaves the outcome open: the log is done for. */
  write(
    request: Omit<WriteRequest, 'id'>,
    configurations: readonly ConfigurationAt[],
  ): Promise<void> {
    const files = this.files();
    return files.exclusively(async () => {
      const facts = this.facts();
      const { truncateFrom } = request;
      const before =
        truncateFrom === undefined ? facts.head.last : await this.pointAt(truncateFrom - 1);
      const batch = planBatch(facts.head, before, facts.configurations, request, configurations);
      this.readableTo = before.index;
      await this.commit(files, batch.changes, batch.head);
      facts.configurations = batch.configurations;
    });
  }

  /**
   * Checked entries `[from, to]`, at least one, at most `bytesMax` together; undefined when
   * compacted. Rejects with `Corrupt`.
   */
  async read(from: LogIndex, to: LogIndex, bytesMax: number): Promise<Entry[] | undefined> {
    const { database } = this.files();
    const lastIndex = Math.min(to, this.readableTo);
    if (from <= this.facts().start.index || from > lastIndex) return undefined;
    return this.reader(database).read(from, lastIndex, bytesMax);
  }

  /**
   * Forgets entries up to `index`, at most to the last one stored (a leader may have applied what
   * only others have stored by now); the new start is durable before anything is deleted. Resolves
   * with it.
   */
  async compact(index: LogIndex): Promise<LogPoint> {
    const files = this.files();
    const { oldStart, point } = await files.exclusively(async () => {
      const facts = this.facts();
      const oldStart = facts.start;
      if (index <= oldStart.index) return { oldStart, point: pointOf(oldStart) };
      const point = await this.pointAt(Math.min(index, facts.head.last.index));
      const { configuration } = configurationAt(facts, point.index);
      await this.startAfter(files, { ...point, configuration });
      return { oldStart, point };
    });
    await this.forget(files, oldStart, point);
    return point;
  }

  /**
   * The log begins after `point`: keeps what follows if the entry at `point` is the same, else
   * drops all. Synced.
   */
  async moveTo(point: SnapshotPoint): Promise<void> {
    const files = this.files();
    const oldStart = await files.exclusively(async () => {
      const { start, head } = this.facts();
      if (point.index <= start.index) return undefined;
      if (point.index <= head.last.index) {
        const own = await this.pointAt(point.index);
        if (own.term === point.term && own.checksum === point.checksum) {
          await this.startAfter(files, point);
          return start;
        }
        if (point.index <= head.commitIndex) {
          throw this.corrupt(`entry ${point.index} is committed, but not the one of the snapshot`);
        }
      }
      await this.startOver(files, point);
      return undefined;
    });
    if (oldStart) await this.forget(files, oldStart, point);
  }

  /** `storageId`: as first met; `removedMark` may take its place. */
  notePeer(peer: MemberId, storageId: string): Promise<void> {
    const files = this.files();
    return files.exclusively(async () => {
      const { peers, head } = this.facts();
      const noted = peers.get(peer);
      if (noted === storageId) return;
      if (noted !== undefined && storageId !== removedMark) {
        throw new RangeError(`peer ${peer} was met with another storage`);
      }
      await this.commit(files, [putFact(peerKey(peer), { storageId })], head);
      peers.set(peer, storageId);
    });
  }

  noteAdmitted(): Promise<void> {
    const files = this.files();
    return files.exclusively(() =>
      this.commit(files, [putFact(admittedKey, {})], this.facts().head),
    );
  }

  sizeBytes(): Promise<number> {
    return this.options.disk.sizeOf(this.options.directory);
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }

  /** Moves the start forward within the log. */
  private async startAfter(files: LogFiles, start: SnapshotPoint): Promise<void> {
    const facts = this.facts();
    const plan = planStartAfter(facts.head, facts.configurations, start);
    await this.commit(files, plan.changes, plan.head);
    facts.start = start;
    facts.configurations = plan.configurations;
  }

  /** Drops all entries. Those after the new start must be gone before another takes their place. */
  private async startOver(files: LogFiles, start: SnapshotPoint): Promise<void> {
    const facts = this.facts();
    const plan = planStartOver(facts.head, facts.configurations, start);
    const firstIndex = facts.start.index + 1;
    const obsoleteTo = facts.head.last.index;
    this.readableTo = start.index;
    await this.commit(files, plan.changes, plan.head);
    facts.start = start;
    facts.configurations = plan.configurations;
    await files.deleteEntries(firstIndex, obsoleteTo, { sync: true });
  }

  /** Between other changes; what a crash or the end leaves is deleted at the next `load`. */
  private async forget(files: LogFiles, from: LogPoint, to: LogPoint): Promise<void> {
    await files.deleteEntries(from.index + 1, to.index, { sync: false }, async (change) => {
      if (!files.closing) await files.exclusively(change);
    });
  }

  private async removeLeftovers(files: LogFiles, { start, head }: LogContents): Promise<void> {
    const rows = files.database.rows({
      gte: entryKey(0),
      lt: entryKey(start.index + 1),
      limit: 1,
    });
    const [oldest] = await rows.next(1);
    await rows.close();
    if (oldest) await files.deleteEntries(indexOfKey(oldest[0]), start.index, { sync: false });
    const { last, obsoleteTo = 0 } = head;
    await files.deleteEntries(last.index + 1, obsoleteTo, { sync: true });
  }

  private async commit(files: LogFiles, changes: Change[], next: LogHead): Promise<void> {
    const facts = this.facts();
    const head = { ...next, sequence: facts.head.sequence + 1 };
    await files.commit(changes, head);
    facts.head = head;
    this.readableTo = head.last.index;
  }

  private async pointAt(index: number): Promise<LogPoint> {
    const { start, head } = this.facts();
    if (index === head.last.index) return head.last;
    if (index === start.index) return pointOf(start);
    if (index < start.index || index > head.last.index) {
      throw new RangeError(`entry ${index} is not within the log`);
    }
    return this.reader(this.files().database).pointAt(asLogIndex(index));
  }

  private reader(database: Database): EntryReader {
    return new EntryReader(database, this.options.directory, this.options.clock);
  }

  private take(loaded: LogContents): RecoveredLog {
    const { start, head, configurations, identity, admitted, terms, tail } = loaded;
    this.known = { start, head, configurations, peers: loaded.peers };
    this.readableTo = head.last.index;
    return {
      identity,
      admitted,
      peers: new Map(loaded.peers),
      hardState: hardStateOf(head),
      configurations: [
        { index: start.index, configuration: start.configuration },
        ...configurations,
      ],
      start: pointOf(start),
      last: head.last,
      terms,
      tail,
    };
  }

  private files(): LogFiles {
    if (!this.opened) throw new LogError('Stopped', 'the log has not been loaded');
    return this.opened;
  }

  private facts(): LogFacts {
    if (!this.known) throw new LogError('Stopped', 'the log has not been created');
    return this.known;
  }

  private corrupt(fault: string): LogError {
    return corruptLog(this.options.directory, fault);
  }
}

/** In effect as of `index`. */
function configurationAt(facts: LogFacts, index: LogIndex): ConfigurationAt {
  return facts.configurations.findLast((known) => known.index <= index) ?? facts.start;
}
