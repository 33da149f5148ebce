/**
 * The objects of one served resource: get, list, watch, create, update, patch and delete, in the
 * version that it serves. Knows nothing of HTTP. Custom resources differ only in the codec of their
 * storage.
 */
import { type ApiObject, jsonOf } from '@orch/api';
import { deepCopy, type Json, type JsonObject } from '@orch/apimachinery';
import type { Awaitable } from '@orch/component';
import type { Entry, ReadConsistency, WatchHandle, WatchOptions } from '@orch/store';
import { resourceVersionWaitMs } from '../limits.js';
import type { DeleteOptions } from '../objects/delete-options.js';
import type { ServedResource } from '../table/resource.js';
import { toStoredShape } from '../table/stored-shape.js';
import type { WriteContext } from '../write-context.js';
import { CreateOperation } from './create.js';
import { DeleteOperation, type DeleteResult } from './delete.js';
import { type ListQuery, type ListResponse, listObjects, versionFailure } from './list.js';
import type { ObjectStorage } from './object-storage.js';
import { UpdateOperation } from './update.js';
import type { ObjectKey, Update, UpdateStrategy } from './update-strategy.js';

/** A change of an object in its served version. */
export interface Patch {
  readonly strategy: UpdateStrategy;
  /** The patched document; may change `document`. `schema`: the type of the document. */
  apply(document: JsonObject, schema: string): Json;
  /** The patched document as an object of the served version. Throws StatusError. */
  decode(patched: Json): ApiObject;
}

export class ResourceStore {
  readonly served: ServedResource;

  constructor(private readonly storage: ObjectStorage) {
    this.served = storage.served;
  }

  /**
   * Undefined: no such object. A promise only if it has to wait or fails, with StatusError (410,
   * 504) or StoreError.
   */
  get(
    { namespace, name }: ObjectKey,
    consistency: ReadConsistency,
    deadlineMs: number,
  ): Awaitable<Entry | undefined> {
    const leftMs = this.storage.timeLeftMs(deadlineMs);
    const timeoutMs =
      consistency.kind === 'notOlderThan' ? Math.min(leftMs, resourceVersionWaitMs) : leftMs;
    const key = this.served.resource.key(namespace, name);
    const result = this.storage.get(key, { consistency, timeoutMs });
    if (!(result instanceof Promise)) return result.entry;
    return result.then(
      ({ entry }) => entry,
      (error: unknown) => Promise.reject(versionFailure(error, consistency, false)),
    );
  }

  /** Throws StatusError (410, 504) and StoreError. */
  list(query: ListQuery): Promise<ListResponse> {
    return listObjects(this.storage, query);
  }

  /** Entries of the store as this version sees them, from a revision on. */
  watch(options: WatchOptions): WatchHandle {
    return this.storage.watch(options);
  }

  /** Creates `object`, which is in the stored shape and belongs to the store from now on. */
  create(namespace: string, object: ApiObject, context: WriteContext): Promise<Entry> {
    return new CreateOperation(this.storage, namespace, object, context).run();
  }

  /** Replaces the object, or the part of it that the strategy writes. */
  update(key: ObjectKey, update: Update, context: WriteContext): Promise<Entry> {
    return new UpdateOperation(this.storage, key, update, context).run();
  }

  /** Patches the object as the served version shows it. */
  patch(key: ObjectKey, patch: Patch, context: WriteContext): Promise<Entry> {
    const { served } = this;
    const schema = `${served.schemaPackage}.${served.kind}`;
    const produce = (existing: ApiObject) => {
      const document = jsonOf(deepCopy(served.fromStored(existing)));
      return toStoredShape(served, patch.decode(patch.apply(document, schema)));
    };
    return this.update(key, { strategy: patch.strategy, produce, uid: '' }, context);
  }

  delete(key: ObjectKey, options: DeleteOptions, context: WriteContext): Promise<DeleteResult> {
    return new DeleteOperation(this.storage, key, options, context).run();
  }
}
