/**
 * Reads a whole log at start and proves it: every record against its checksum, the chain from the
 * start point to the last entry, and that against the head. Anything that does not agree is
 * `Corrupt`; a log is never silently shorter than it was.
 */
import type { LoopClock } from '@orch/component';
import type { MemberId, SnapshotPoint } from '../core/types.js';
import { recoverySliceBytes, recoverySliceEntries } from '../limits.js';
import type { Database, Range, Row } from './disk/disk.js';
import {
  admittedKey,
  configurationKey,
  configurationsEnd,
  decodeFact,
  entriesEnd,
  entryKey,
  headKey,
  identityKey,
  indexOfKey,
  memberOfPeerKey,
  peersEnd,
  peersFrom,
  startKey,
} from './log-codec.js';
import { checkMark, corruptLog, type LogHead } from './log-head.js';
import { type CacheBounds, type ConfigurationAt, LogScan } from './log-scan.js';
import type { Identity } from './stored-log.js';

export interface LogContents extends Pick<LogScan, 'terms' | 'tail'> {
  readonly identity: Identity;
  readonly admitted: boolean;
  readonly peers: Map<MemberId, string>;
  readonly start: SnapshotPoint;
  readonly head: LogHead;
  /** Configurations of the entries after the start, ascending. */
  readonly configurations: ConfigurationAt[];
}

export class LogRecovery {
  constructor(
    private readonly database: Database,
    private readonly directory: string,
    private readonly clock: LoopClock,
    private readonly bounds: CacheBounds,
  ) {}

  /** Undefined when the database is new. `marked` is what the mark says. Rejects with `Corrupt`. */
  async load(marked: Buffer | undefined): Promise<LogContents | undefined> {
    const headRecord = await this.database.get(headKey);
    const head = headRecord && this.decode<LogHead>(headKey, headRecord);
    checkMark(this.directory, marked, head, headRecord);
    const identity = await this.fact<Identity>(identityKey);
    const start = await this.fact<SnapshotPoint>(startKey);
    if (!identity && !start && !head && (await this.isEmpty())) return undefined;
    if (!identity) throw corruptLog(this.directory, 'its identity (h/identity) is missing');
    if (!start) throw corruptLog(this.directory, 'its start point (h/start) is missing');
    if (!head) throw corruptLog(this.directory, 'its hard state (h/head) is missing');
    const scan = new LogScan(this.directory, this.bounds, start, head);
    for await (const rows of this.slices({ gte: entryKey(start.index + 1), lt: entriesEnd })) {
      for (const [key, record] of rows) scan.add(indexOfKey(key), record);
    }
    const configurations = await this.readConfigurations(start, head);
    scan.finish(configurations);
    return {
      identity,
      admitted: (await this.fact(admittedKey)) !== undefined,
      peers: await this.readPeers(),
      start,
      head,
      configurations,
      terms: scan.terms,
      tail: scan.tail,
    };
  }

  private async readConfigurations(
    start: SnapshotPoint,
    head: LogHead,
  ): Promise<ConfigurationAt[]> {
    const found: ConfigurationAt[] = [];
    const range = { gte: configurationKey(start.index + 1), lt: configurationsEnd };
    for await (const rows of this.slices(range)) {
      for (const [key, record] of rows) {
        const index = indexOfKey(key);
        const configuration = this.decode<ConfigurationAt['configuration']>(key, record);
        if (index <= head.last.index) found.push({ index, configuration });
      }
    }
    return found;
  }

  private async readPeers(): Promise<Map<MemberId, string>> {
    const peers = new Map<MemberId, string>();
    for await (const rows of this.slices({ gte: peersFrom, lt: peersEnd })) {
      for (const [key, record] of rows) {
        peers.set(memberOfPeerKey(key), this.decode<{ storageId: string }>(key, record).storageId);
      }
    }
    return peers;
  }

  /** Yields to the event loop after each slice, so that a long log blocks nothing. */
  private async *slices(range: Range): AsyncGenerator<Row[]> {
    const rows = this.database.rows({ ...range, highWaterMarkBytes: recoverySliceBytes });
    try {
      for (;;) {
        const slice = await rows.next(recoverySliceEntries);
        if (slice.length === 0) return;
        yield slice;
        await this.clock.nextTurn();
      }
    } finally {
      await rows.close();
    }
  }

  private async isEmpty(): Promise<boolean> {
    const rows = this.database.rows({ limit: 1 });
    const found = await rows.next(1);
    await rows.close();
    return found.length === 0;
  }

  private async fact<Fact extends object>(key: Buffer): Promise<Fact | undefined> {
    const record = await this.database.get(key);
    return record && this.decode<Fact>(key, record);
  }

  private decode<Fact extends object>(key: Buffer, record: Buffer): Fact {
    const fact = decodeFact<Fact>(key, record);
    if (fact) return fact;
    throw corruptLog(this.directory, `its record ${nameOf(key)} does not match its checksum`);
  }
}

function nameOf(key: Buffer): string {
  return key[0] === configurationKey(0)[0] ? `c${indexOfKey(key)}` : key.toString('latin1');
}
