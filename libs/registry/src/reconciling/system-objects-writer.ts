/**
 * Writes of the server itself. They pass through the registry like those of a client, as a user of
 * their own. One writer serves one round: all its waits share a deadline.
 */
import type { ApiObject } from '@orch/api';
import { formatTime, isStatus } from '@orch/apimachinery';
import { type Awaitable, dialect } from '@orch/component';
import type { Entry, ReadConsistency } from '@orch/store';
import { reconcileTimeoutMs } from '../limits.js';
import { type DeleteOptions, defaultDeleteOptions } from '../objects/delete-options.js';
import { freshObject } from '../objects/entry-view.js';
import type { Registry } from '../store/registry.js';
import type { ResourceStore } from '../store/resource-store.js';
import { objectStrategy, partStrategy } from '../store/strategies.js';
import type { ObjectKey } from '../store/update-strategy.js';
import { toStoredShape } from '../table/stored-shape.js';
import type { WriteContext } from '../write-context.js';

/** A built-in kind by its plural and the head of its group. */
export interface KindName {
  readonly plural: string;
  readonly groupHead: string;
}

/** The user that the server's own writes belong to. */
const serverUser = {
  name: 'system:apiserver',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
};

export function systemContext(registry: Registry, timeoutMs: number): WriteContext {
  const { clock, features } = registry;
  return {
    now: formatTime(clock.nowMs()),
    user: serverUser,
    dryRun: false,
    features,
    fieldManager: features.enabled('ServerSideApply')
      ? dialect().systemName('apiserver')
      : undefined,
    pathName: '',
    deadlineMs: clock.monotonicMs() + timeoutMs,
    warnings: [],
    bypassesWebhooks: true,
  };
}

export class SystemObjectsWriter {
  readonly context: WriteContext;

  constructor(
    readonly registry: Registry,
    timeoutMs: number = reconcileTimeoutMs,
  ) {
    this.context = systemContext(registry, timeoutMs);
  }

  store({ plural, groupHead }: KindName): ResourceStore {
    return this.registry.storeOf(plural, groupHead);
  }

  /** Every object of the kind that this server has in memory, by key. */
  async entries(kind: KindName): Promise<ReadonlyMap<string, Entry>> {
    const { registry, context } = this;
    const { entries } = await registry.rawStore.list(this.store(kind).served.resource.keyPrefix, {
      consistency: { kind: 'any' },
      timeoutMs: registry.timeLeftMs(context.deadlineMs),
    });
    return new Map(entries.map((entry) => [entry.key, entry]));
  }

  /** The object that this server has in memory. */
  read(
    kind: KindName,
    key: ObjectKey,
    consistency: ReadConsistency = { kind: 'any' },
  ): Awaitable<Entry | undefined> {
    return this.store(kind).get(key, consistency, this.context.deadlineMs);
  }

  /**
   * Creates the object unless it exists; returns whether it was created. Memory shows that an
   * object exists, only a quorum read that it does not.
   */
  async ensure(kind: KindName, object: ApiObject): Promise<boolean> {
    const { name = '', namespace = '' } = object.metadata ?? {};
    const key = { namespace, name };
    if (await this.read(kind, key)) return false;
    if (await this.read(kind, key, { kind: 'quorum' })) return false;
    return this.create(kind, object);
  }

  /** Returns false if the object exists: another server of the cluster was faster. */
  async create(kind: KindName, object: ApiObject): Promise<boolean> {
    const store = this.store(kind);
    const { served } = store;
    try {
      // Decoded like a client's object, so that it has the fields that decoding adds.
      const decoded = toStoredShape(served, served.codec.fromJson(object));
      await store.create(object.metadata?.namespace ?? '', decoded, this.context);
      return true;
    } catch (error) {
      if (isStatus(error, 'AlreadyExists')) return false;
      throw error;
    }
  }

  /** Changes the object, or its status. Does nothing if the object no longer exists. */
  async change<T extends ApiObject>(
    kind: KindName,
    key: ObjectKey,
    change: (object: T) => void,
    part: '' | 'status' = '',
  ): Promise<void> {
    const store = this.store(kind);
    const { status } = store.served.definition;
    if (part === 'status' && !status) throw new Error(`${kind.plural} have no status subresource`);
    const strategy =
      part === 'status' && status
        ? partStrategy(store.served, 'status', status)
        : objectStrategy(store.served);
    const produce = (_existing: ApiObject, entry: Entry) => {
      const object = freshObject<T>(entry);
      change(object);
      return object;
    };
    try {
      await store.update(key, { strategy, produce, uid: '' }, this.context);
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error;
    }
  }

  /** Deletes the object. Does nothing if it does not exist. */
  async drop(
    kind: KindName,
    key: ObjectKey,
    options: DeleteOptions = defaultDeleteOptions,
  ): Promise<void> {
    try {
      await this.store(kind).delete(key, options, this.context);
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error;
    }
  }
}
