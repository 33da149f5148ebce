/**
 * Reads, commits and watches of the objects of one served version, in that version. The operations
 * of `ResourceStore` are built on it. Every wait ends at the deadline of its caller.
 */
import type { ClusterOptions } from '@orch/api';
import type { Awaitable, Clock, Features } from '@orch/component';
import type {
  CommitResult,
  Entry,
  GetResult,
  ListOptions,
  ListResult,
  Operation,
  ReadConsistency,
  ReadOptions,
  ReadWriteStore,
  WatchHandle,
  WatchOptions,
} from '@orch/store';
import type { Admission } from '../admission/admission.js';
import { watchConversionTimeoutMs } from '../limits.js';
import type { ClaimIndex } from '../storage/claims.js';
import { DecodedWatch } from '../storage/decoded-watch.js';
import { commitEncoded, type EntryCodec } from '../storage/entry-codec.js';
import type { ServedResource } from '../table/resource.js';

export interface StorageDependencies {
  readonly store: ReadWriteStore;
  readonly clock: Clock;
  readonly features: Features;
  readonly settings: ClusterOptions;
  readonly claims: ClaimIndex;
  readonly admission: Admission;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly newUid: () => string;
}

export class ObjectStorage {
  constructor(
    readonly served: ServedResource,
    readonly dependencies: StorageDependencies,
    private readonly codec: EntryCodec | undefined,
  ) {}

  /** Time left for a call of the store; at least one millisecond. */
  timeLeftMs(deadlineMs: number): number {
    return Math.max(1, Math.ceil(deadlineMs - this.dependencies.clock.monotonicMs()));
  }

  /** The entry under a key until the deadline. Rejects with StoreError. */
  async read(
    key: string,
    consistency: ReadConsistency,
    deadlineMs: number,
  ): Promise<Entry | undefined> {
    return (await this.get(key, { consistency, timeoutMs: this.timeLeftMs(deadlineMs) })).entry;
  }

  /** The entry under a key and the revision it was read at, as `StoreReader.get`. */
  get(key: string, options: ReadOptions): Awaitable<GetResult> {
    const { store } = this.dependencies;
    return this.codec ? this.getDecoded(this.codec, key, options) : store.get(key, options);
  }

  private async getDecoded(
    codec: EntryCodec,
    key: string,
    options: ReadOptions,
  ): Promise<GetResult> {
    const deadlineMs = this.dependencies.clock.monotonicMs() + options.timeoutMs;
    const { entry, revision } = await this.dependencies.store.get(key, options);
    if (!entry) return { entry, revision };
    return { entry: (await codec.decode([entry], deadlineMs))[0], revision };
  }

  /** A page of entries in key order. Rejects with StoreError. */
  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const { store, clock } = this.dependencies;
    const deadlineMs = clock.monotonicMs() + options.timeoutMs;
    const result = await store.list(prefix, options);
    if (!this.codec) return result;
    return { ...result, entries: await this.codec.decode(result.entries, deadlineMs) };
  }

  /** Commits all operations or none. Rejects with StoreError. */
  commit(operations: readonly Operation[], deadlineMs: number): Promise<CommitResult> {
    const { store } = this.dependencies;
    const leftMs = () => this.timeLeftMs(deadlineMs);
    return this.codec
      ? commitEncoded(store, this.codec, operations, leftMs, deadlineMs)
      : store.commit(operations, leftMs());
  }

  /** As `StoreReader.watch`. */
  watch(options: WatchOptions): WatchHandle {
    const { store, clock } = this.dependencies;
    const { codec } = this;
    if (!codec) return store.watch(options);
    return new DecodedWatch(store, options, (entries) =>
      codec.decode(entries, clock.monotonicMs() + watchConversionTimeoutMs),
    );
  }
}
