/**
 * Reads from etcd: past revisions, which memory lacks, and etcd's newest and compacted revision.
 */
import type { ListResult, Revision } from '../../versioned-store.js';
import { StoreError } from '../../versioned-store.js';
import type { EtcdCluster } from '../client/etcd-cluster.js';
import { type RangeResponse, range } from '../client/messages.js';
import { entryOf } from '../layout/changes.js';
import type { EtcdEntry } from '../layout/etcd-entry.js';
import { type KeyLayout, toEtcdRevision, toStoreRevision } from '../layout/key-layout.js';
import { pageKeysMax, searchStepsMax } from '../limits.js';

export interface ListedRange {
  readonly prefix: string;
  readonly startAfter: string | undefined;
  readonly limit: number;
}

export interface Page extends ListResult {
  readonly entries: readonly EtcdEntry[];
}

export class EtcdReader {
  constructor(
    private readonly cluster: EtcdCluster,
    private readonly layout: KeyLayout,
  ) {}

  /** Returns a revision that a quorum confirmed as the newest after the call. */
  async newestRevision(timeoutMs: number): Promise<Revision> {
    const request = { key: this.layout.finalKey(0), countOnly: true };
    const { header } = await this.cluster.read(range, request, timeoutMs);
    return toStoreRevision(header.revision);
  }

  /** Rejects with StoreError `Compacted` (without the revision compacted). */
  async get(key: string, revision: Revision, timeoutMs: number): Promise<EtcdEntry | undefined> {
    const request = { key: this.layout.entryKey(key), revision: toEtcdRevision(revision) };
    const { kvs } = await this.cluster.read(range, request, timeoutMs);
    return kvs[0] && entryOf(key, kvs[0]);
  }

  /**
   * Lists in key order, at the newest revision if `revision` is undefined. Reads pages, smaller
   * ones if a response is too large; `timeoutMs` applies to each page. Rejects with StoreError
   * `Compacted`.
   */
  async list(
    { prefix, startAfter, limit }: ListedRange,
    revision: Revision | undefined,
    timeoutMs: number,
  ): Promise<Page> {
    const entries: EtcdEntry[] = [];
    let pageKeys = pageKeysMax;
    let shown = revision;
    let after = startAfter;
    for (;;) {
      const pageLimit = Math.min(pageKeys, limit - entries.length);
      const response = await this.page(prefix, after, shown, pageLimit, timeoutMs);
      if (!response) {
        pageKeys = Math.ceil(pageLimit / 2);
        continue;
      }
      shown ??= toStoreRevision(response.header.revision);
      for (const kv of response.kvs) entries.push(entryOf(this.nameOf(kv.key), kv));
      const remainingCount = response.count - response.kvs.length;
      if (remainingCount === 0 || entries.length >= limit) {
        return { entries, revision: shown, remainingCount };
      }
      after = entries.at(-1)?.key;
    }
  }

  /** Returns the oldest readable revision; 0 if nothing was compacted. `known` is a lower bound. */
  async compactedRevision(known: number, newest: number, timeoutMs: number): Promise<Revision> {
    if (await this.isReadable(known, timeoutMs)) return known as Revision;
    let low = known;
    let high = newest;
    for (let step = 0; high - low > 1 && step < searchStepsMax; step += 1) {
      const middle = low + Math.floor((high - low) / 2);
      if (await this.isReadable(middle, timeoutMs)) high = middle;
      else low = middle;
    }
    return high as Revision;
  }

  private async isReadable(revision: number, timeoutMs: number): Promise<boolean> {
    const key = this.layout.finalKey(0);
    const request = { key, countOnly: true, revision: toEtcdRevision(revision) };
    try {
      await this.cluster.read(range, request, timeoutMs);
      return true;
    } catch (error) {
      if (error instanceof StoreError && error.code === 'Compacted') return false;
      throw error;
    }
  }

  /** Returns undefined if the response would be too large. */
  private async page(
    prefix: string,
    after: string | undefined,
    revision: Revision | undefined,
    limit: number,
    timeoutMs: number,
  ): Promise<RangeResponse | undefined> {
    const request = {
      ...this.layout.entries(prefix, after),
      limit,
      revision: revision === undefined ? 0 : toEtcdRevision(revision),
    };
    try {
      return await this.cluster.read(range, request, timeoutMs);
    } catch (error) {
      const tooLarge = error instanceof StoreError && error.code === 'TooLarge' && limit > 1;
      if (tooLarge) return undefined;
      throw error;
    }
  }

  private nameOf(bytes: Buffer): string {
    const key = this.layout.keyOf(bytes);
    if (key === undefined) throw new Error('etcd returned a key outside of the range');
    return key;
  }
}
