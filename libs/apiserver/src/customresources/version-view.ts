/**
 * The store as one version of a custom resource sees it: what is read comes in that version, what is
 * written goes into the store in the version objects are stored in. So the registry works on custom
 * resources as on any other. Entries in the stored version that were written under the schema as it is
 * are handed on as they are. Every write expects the definition to be the one it was checked against.
 */
import { type StatusError, serviceUnavailable } from '@orch/apimachinery';
import type { Clock } from '@orch/component';
import {
  type CommitResult,
  type Entry,
  type GetResult,
  type ListOptions,
  type ListResult,
  type Operation,
  type ReadOptions,
  type Revision,
  type StoreStatus,
  type VersionedStore,
  type WatchHandle,
  type WatchOptions,
} from '@orch/store';
import { definitionAttemptsMax, watchConversionTimeoutMs } from '../limits.js';
import { storedBytes } from '../registry/object-bytes.js';
import { ConvertedWatch } from './converted-watch.js';
import type { CustomResources, KnownDefinition } from './custom-resources.js';
import type { Shown, VersionReader } from './version-reader.js';

export class VersionView implements VersionedStore {
  private readonly sinceRevision: Revision;

  constructor(
    private readonly store: VersionedStore,
    private readonly clock: Clock,
    private readonly definitions: CustomResources,
    private readonly name: string,
    private readonly reader: VersionReader,
  ) {
    this.sinceRevision = reader.sinceRevision;
  }

  async get(key: string, options: ReadOptions): Promise<GetResult> {
    const deadlineMs = this.clock.monotonicMs() + options.timeoutMs;
    const { entry, revision } = await this.store.get(key, options);
    if (!entry) return { entry, revision };
    return { entry: (await this.shown([entry], deadlineMs))[0], revision };
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const deadlineMs = this.clock.monotonicMs() + options.timeoutMs;
    const result = await this.store.list(prefix, options);
    return { ...result, entries: await this.shown(result.entries, deadlineMs) };
  }

  async commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult> {
    const deadlineMs = this.clock.monotonicMs() + timeoutMs;
    const written = await Promise.all(
      operations.map((operation) => this.toStore(operation, deadlineMs)),
    );
    for (let attempt = 1; ; attempt += 1) {
      const { key, revision } = this.definition();
      const leftMs = Math.max(1, deadlineMs - this.clock.monotonicMs());
      const check: Operation = { kind: 'check', key, expect: { kind: 'revision', revision } };
      const result = await this.store.commit([...written, check], leftMs);
      if (result.succeeded) return this.succeeded(result, operations.length, deadlineMs);
      if (result.failedOperation < operations.length) {
        const { current } = result;
        if (
          !current ||
          !operations[result.failedOperation]?.key.startsWith(this.reader.keyPrefix)
        ) {
          return result;
        }
        return { ...result, current: (await this.shown([current], deadlineMs))[0] };
      }
      // Another condition of the definition, not what it says of objects: that is looked at above.
      if (attempt === definitionAttemptsMax) throw definitionChanged();
    }
  }

  watch(options: WatchOptions): WatchHandle {
    return new ConvertedWatch(this.store, options, (entries) =>
      this.shown(entries, this.clock.monotonicMs() + watchConversionTimeoutMs),
    );
  }

  start(): Promise<void> {
    return this.store.start();
  }

  stop(): Promise<void> {
    return this.store.stop();
  }

  compact(revision: Revision): Promise<void> {
    return this.store.compact(revision);
  }

  revision(): Revision {
    return this.store.revision();
  }

  revisionBefore(ageMs: number): Revision {
    return this.store.revisionBefore(ageMs);
  }

  status(): StoreStatus {
    return this.store.status();
  }

  /** Throws 503 when objects look otherwise by now: the request begins anew with what is known then. */
  private definition(): KnownDefinition {
    const known = this.definitions.definition(this.name);
    if (known?.sinceRevision !== this.sinceRevision) throw definitionChanged();
    return known;
  }

  private shown(entries: readonly Entry[], deadlineMs: number): Shown {
    return this.reader.shown(entries, deadlineMs);
  }

  private async succeeded(
    result: Extract<CommitResult, { succeeded: true }>,
    count: number,
    deadlineMs: number,
  ): Promise<CommitResult> {
    const own = result.entries.slice(0, count);
    const entries = await Promise.all(
      own.map(async (entry) =>
        entry?.key.startsWith(this.reader.keyPrefix)
          ? (await this.shown([entry], deadlineMs))[0]
          : entry,
      ),
    );
    return { ...result, entries };
  }

  private async toStore(operation: Operation, deadlineMs: number): Promise<Operation> {
    if (this.reader.isStored || operation.kind !== 'put') return operation;
    if (!operation.key.startsWith(this.reader.keyPrefix)) return operation;
    const { resource, object } = await this.reader.toStored(operation.bytes, deadlineMs);
    return {
      ...operation,
      bytes: storedBytes(resource, object),
      revisionOffset: resource.revisionOffset,
    };
  }
}

/** What objects look like has changed under the request. */
export function definitionChanged(): StatusError {
  return serviceUnavailable('the definition of the resource has just changed, please try again', 1);
}
