/**
 * Compressed lists, so that clients that list the same objects cost one compression. The key of a
 * list names its objects by their number and their newest revision: two complete lists of one
 * selection that agree in both contain the same objects, because each object of the one is in the
 * other, unchanged since. Writes to other objects therefore change nothing. Invariant: the rest of
 * a list depends on nothing else, so pages and tables are not cached.
 */
import type { ListRequest, ListResponse, ServedResource } from '@orch/registry';
import { LRUCache } from 'lru-cache';
import {
  compressedListBytesMax,
  compressedListsBytesMax,
  compressedListsMax,
  compressedListTtlMs,
  compressionsInFlightMax,
} from '../limits.js';
import type { ViewOptions } from '../request/representation.js';
import { type CompressRest, compressAfterHead, type Gathered } from './gather.js';
import type { CompressedRest } from './gzip-parts.js';

export interface ListToSend {
  readonly served: ServedResource;
  readonly list: ListResponse;
  readonly request: ListRequest;
  readonly namespace: string;
  readonly view: ViewOptions;
}

export class CompressedLists {
  private readonly finished = new LRUCache<string, CompressedRest>({
    max: compressedListsMax,
    maxSize: compressedListsBytesMax,
    sizeCalculation: ({ bytes }) => Math.max(1, bytes.length),
    ttl: compressedListTtlMs,
    ttlAutopurge: true,
  });
  private readonly running = new Map<string, Promise<CompressedRest>>();
  private readonly numbers = new WeakMap<ServedResource, number>();
  private servedCount = 0;

  constructor(private readonly compress = compressAfterHead) {}

  /** Returns how to get the compressed form of a list; undefined if it can have none. */
  finderFor(list: ListToSend): CompressRest | undefined {
    const { limit, continueFrom } = list.request;
    if (limit > 0 || continueFrom !== undefined) return undefined;
    return (gathered) => this.find(list, gathered);
  }

  private find(list: ListToSend, gathered: Gathered): Promise<CompressedRest> | undefined {
    if (!gathered.isTimeless || gathered.totalBytes > compressedListBytesMax) return undefined;
    const key = this.keyOf(list);
    const cached = this.finished.get(key);
    if (cached) return Promise.resolve(cached);
    const running = this.running.get(key);
    if (running) return running;
    if (this.running.size >= compressionsInFlightMax) return undefined;
    const started = this.start(key, gathered);
    this.running.set(key, started);
    return started;
  }

  private async start(key: string, gathered: Gathered): Promise<CompressedRest> {
    try {
      const rest = await this.compress(gathered);
      this.finished.set(key, rest);
      return rest;
    } finally {
      this.running.delete(key);
    }
  }

  private keyOf({ served, list, request, namespace, view }: ListToSend): string {
    let newest = 0;
    for (const { revision } of list.entries) newest = Math.max(newest, revision);
    const { format, view: form, viewVersion } = view.representation;
    return JSON.stringify([
      this.numberOf(served),
      ...[namespace, request.labelSelector, request.fieldSelector],
      ...[format, form, viewVersion],
      ...[list.entries.length, newest],
    ]);
  }

  /** A changed definition of a custom resource is another served resource. */
  private numberOf(served: ServedResource): number {
    let number = this.numbers.get(served);
    if (number === undefined) {
      this.servedCount += 1;
      number = this.servedCount;
      this.numbers.set(served, number);
    }
    return number;
  }
}
