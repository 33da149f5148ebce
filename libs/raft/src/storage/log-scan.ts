/**
 * The proof of a log's entries, one record at a time and in order. Pure: the loader reads, this
 * decides. Keeps what a restart needs: where each term begins and the newest entries, within the
 * bounds of the cache.
 */
import type { Configuration, Entry, LogIndex, LogPoint, Term } from '../core/types.js';
import { decodeEntry } from './log-codec.js';
import { corruptLog, type LogHead } from './log-head.js';

export interface ConfigurationAt {
  readonly index: LogIndex;
  readonly configuration: Configuration;
}

export interface CacheBounds {
  /**
   * Newest entries returned by `load`. Higher: more memory; lower: slow followers are served from
   * disk.
   */
  readonly cacheEntriesMax: number;
  readonly cacheBytesMax: number;
}

export class LogScan {
  readonly terms: { readonly firstIndex: LogIndex; readonly term: Term }[] = [];
  private tailEntries: Entry[] = [];
  /** Entries at the front of `#tail` that no longer fit. */
  private tailDropped = 0;
  private tailBytes = 0;
  private last: LogPoint;
  private readonly configurationIndexes: LogIndex[] = [];

  constructor(
    private readonly directory: string,
    private readonly bounds: CacheBounds,
    start: LogPoint,
    private readonly head: LogHead,
  ) {
    this.last = start;
  }

  /** The newest entries seen that the bounds allow. */
  get tail(): readonly Entry[] {
    return this.tailEntries.slice(this.tailDropped);
  }

  add(index: LogIndex, record: Buffer): void {
    const { last, obsoleteTo = 0 } = this.head;
    if (index > last.index) {
      if (index <= obsoleteTo) return;
      throw corruptLog(this.directory, `entry ${index} exists, but the log ends at ${last.index}`);
    }
    if (index !== this.last.index + 1) throw this.missing();
    const decoded = decodeEntry(index, record);
    if (!decoded) {
      throw corruptLog(this.directory, `entry ${index} does not match its checksum`);
    }
    const { entry, previousChecksum } = decoded;
    if (previousChecksum !== this.last.checksum || entry.term < this.last.term) {
      throw corruptLog(this.directory, `entry ${index} does not continue the one before`);
    }
    if (entry.term !== this.terms.at(-1)?.term) {
      this.terms.push({ firstIndex: index, term: entry.term });
    }
    if (entry.kind === 'configuration') this.configurationIndexes.push(index);
    this.last = { index, term: entry.term, checksum: entry.checksum };
    if (index > last.index - this.bounds.cacheEntriesMax) this.keep(entry);
  }

  /** After the last record: does the log end where it should, with all configurations in it? */
  finish(configurations: readonly ConfigurationAt[]): void {
    const { last, term, commitIndex } = this.head;
    if (this.last.index < last.index) throw this.missing();
    if (this.last.term !== last.term || this.last.checksum !== last.checksum) {
      throw corruptLog(this.directory, `entry ${last.index} is not the one that was last written`);
    }
    if (last.term > term || commitIndex > last.index) {
      throw corruptLog(this.directory, 'its hard state (h/head) is older than its entries');
    }
    const stored = configurations.map(({ index }) => index).join();
    if (stored !== this.configurationIndexes.join()) {
      throw corruptLog(
        this.directory,
        `its configurations (${stored}) are not those of its entries (${this.configurationIndexes})`,
      );
    }
  }

  private keep(entry: Entry): void {
    this.tailEntries.push(entry);
    this.tailBytes += entry.data.length;
    while (this.tailBytes > this.bounds.cacheBytesMax) {
      this.tailBytes -= this.tailEntries[this.tailDropped]!.data.length;
      this.tailDropped += 1;
    }
    // Occasionally, so that neither the copies nor the retained entries grow.
    if (this.tailDropped * 2 > this.tailEntries.length) {
      this.tailEntries = this.tailEntries.slice(this.tailDropped);
      this.tailDropped = 0;
    }
  }

  private missing(): Error {
    return corruptLog(this.directory, `entry ${this.last.index + 1} is missing`);
  }
}
