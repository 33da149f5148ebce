/** Reads from etcd itself: what memory does not have, as of a revision, and what etcd stands at. */
import type { ListResult, Revision } from '../versioned-store.js';
import { StoreError } from '../versioned-store.js';
import { entryOf } from './changes.js';
import type { EtcdCluster } from './etcd-cluster.js';
import type { EtcdEntry } from './etcd-entry.js';
import { type KeyLayout, toEtcdRevision, toStoreRevision } from './key-layout.js';
import { PAGE_KEYS, SEARCH_STEPS_MAX } from './limits.js';
import { type RangeResponse, range } from './messages.js';

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

  /** The newest revision, agreed by a quorum at some time after the call. */
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
   * In key order. Without a revision as of the newest. In pages that shrink when an answer is too
   * large; `timeoutMs` is for each page. Rejects with StoreError `Compacted`.
   */
  async list(
    { prefix, startAfter, limit }: ListedRange,
    revision: Revision | undefined,
    timeoutMs: number,
  ): Promise<Page> {
    const entries: EtcdEntry[] = [];
    let pageKeys = PAGE_KEYS;
    let shown = revision;
    let after = startAfter;
    for (;;) {
      const pageLimit = Math.min(pageKeys, limit - entries.length);
      const answer = await this.#page(prefix, after, shown, pageLimit, timeoutMs);
      if (!answer) {
        pageKeys = Math.ceil(pageLimit / 2);
        continue;
      }
      shown ??= toStoreRevision(answer.header.revision);
      for (const kv of answer.kvs) entries.push(entryOf(this.#nameOf(kv.key), kv));
      const remainingCount = answer.count - answer.kvs.length;
      if (remainingCount === 0 || entries.length >= limit) {
        return { entries, revision: shown, remainingCount };
      }
      after = entries.at(-1)?.key;
    }
  }

  /** Below it nothing can be read; 0 when nothing was compacted. `known`: what it is at least. */
  async compactedRevision(known: number, newest: number, timeoutMs: number): Promise<Revision> {
    if (await this.#isReadable(known, timeoutMs)) return known as Revision;
    let low = known;
    let high = newest;
    for (let step = 0; high - low > 1 && step < SEARCH_STEPS_MAX; step += 1) {
      const middle = low + Math.floor((high - low) / 2);
      if (await this.#isReadable(middle, timeoutMs)) high = middle;
      else low = middle;
    }
    return high as Revision;
  }

  async #isReadable(revision: number, timeoutMs: number): Promise<boolean> {
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

  /** Undefined: the answer would be too large. */
  async #page(
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

  #nameOf(bytes: Buffer): string {
    const key = this.layout.keyOf(bytes);
    if (key === undefined) throw new Error('etcd answered with a key outside of the range');
    return key;
  }
}
