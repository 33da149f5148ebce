/**
 * API objects in memory with the semantics that controllers rely on: resource versions and
 * conflicts, generated names, generations, status subresources, finalizers, grace periods and
 * propagation policies, terminating namespaces. Does not validate, default or authorize.
 */
import { deepCopy, deepEqual, formatTime, randomSuffix } from '@orch/apimachinery';
import { type Clock, dialect } from '@orch/component';
import type { ApiObject, ObjectMeta, WatchEvent } from '../objects.js';
import type { DeleteOptions } from '../rest/resource-client.js';
import type { KnownResource } from '../rest/resource-ref.js';
import { alreadyExists, conflict, invalid, namespaceTerminating, notFound } from './api-errors.js';

/** An object with every field readable. */
export interface StoredObject extends ApiObject {
  metadata: ObjectMeta;
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

export interface Change {
  readonly resource: KnownResource<ApiObject>;
  readonly type: WatchEvent<ApiObject>['type'];
  readonly version: number;
  readonly object: StoredObject;
  readonly old: StoredObject | undefined;
}

interface Entry {
  readonly resource: KnownResource<ApiObject>;
  readonly object: StoredObject;
}

const defaultGraceSeconds = 30;

export class MemoryStore {
  private readonly entries = new Map<string, Entry>();
  private readonly listeners = new Set<(change: Change) => void>();
  private readonly changes: Change[] = [];
  private compactedVersion = 0;
  private lastVersion = 0;
  private uidCount = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: () => number,
  ) {}

  get version(): number {
    return this.lastVersion;
  }

  /** Discards the history: a watch from an earlier version fails with 410. */
  compact(): void {
    this.compactedVersion = this.lastVersion;
    this.changes.length = 0;
  }

  /** The changes after `version`; undefined if they are compacted. */
  changesSince(version: number): readonly Change[] | undefined {
    if (version < this.compactedVersion) return undefined;
    return this.changes.filter((change) => change.version > version);
  }

  /** Calls `listener` for each change. @returns the function that removes it. */
  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  find(
    resource: KnownResource<ApiObject>,
    namespace: string,
    name: string,
  ): StoredObject | undefined {
    return this.entries.get(keyOf(resource, namespace, name))?.object;
  }

  get(resource: KnownResource<ApiObject>, namespace: string, name: string): StoredObject {
    const object = this.find(resource, namespace, name);
    if (!object) throw notFound(resource, name);
    return object;
  }

  /** The objects of one namespace, or of all if it is ''. */
  list(resource: KnownResource<ApiObject>, namespace: string): StoredObject[] {
    return [...this.entries.values()]
      .filter((entry) => entry.resource === resource)
      .map(({ object }) => object)
      .filter(({ metadata }) => namespace === '' || metadata.namespace === namespace);
  }

  create(resource: KnownResource<ApiObject>, namespace: string, body: ApiObject): StoredObject {
    const metadata: ObjectMeta = { ...body.metadata };
    if (resource.namespaced) {
      metadata.namespace = namespace;
      const parent = this.namespaceOf(namespace);
      if (parent?.metadata.deletionTimestamp) throw namespaceTerminating(resource, namespace);
    }
    metadata.name ||= `${metadata.generateName ?? ''}${randomSuffix(this.random)}`;
    if (this.find(resource, namespace, metadata.name)) throw alreadyExists(resource, metadata.name);
    return this.seed(resource, { ...body, metadata });
  }

  /** Stores an object as it is, including its status, over an existing one. */
  seed(resource: KnownResource<ApiObject>, body: ApiObject): StoredObject {
    const { namespace = '', name = '' } = body.metadata ?? {};
    const existing = this.find(resource, namespace, name);
    const created: StoredObject = {
      ...deepCopy(body),
      apiVersion: dialect().apiVersion(resource.group, resource.version),
      kind: resource.kind,
      metadata: {
        uid: existing?.metadata.uid ?? `server-uid-${++this.uidCount}`,
        creationTimestamp: existing?.metadata.creationTimestamp ?? formatTime(this.clock.nowMs()),
        generation: 1,
        ...deepCopy(body.metadata ?? {}),
      },
    };
    if (resource.plural === 'namespaces') {
      created.spec = { finalizers: [dialect().word], ...created.spec };
      created.status = { phase: 'Active', ...created.status };
    }
    return this.store(resource, created, existing);
  }

  /**
   * PUT. `subresource`: only the status (or the finalizers of a namespace) changes, or all but it.
   */
  replace(
    resource: KnownResource<ApiObject>,
    namespace: string,
    body: ApiObject,
    subresource = '',
  ): StoredObject {
    const existing = this.get(resource, namespace, body.metadata?.name ?? '');
    const { uid, resourceVersion } = body.metadata ?? {};
    const isStale = resourceVersion && resourceVersion !== existing.metadata.resourceVersion;
    if (isStale || (uid && uid !== existing.metadata.uid)) {
      throw conflict(resource, existing.metadata.name ?? '');
    }
    return this.update(resource, existing, deepCopy(body), subresource);
  }

  /** PATCH: `change` returns the patched object. */
  patch(
    resource: KnownResource<ApiObject>,
    namespace: string,
    name: string,
    change: (object: StoredObject) => ApiObject,
    subresource = '',
  ): StoredObject {
    const existing = this.get(resource, namespace, name);
    const patched = change(deepCopy(existing));
    if (patched.metadata?.uid !== existing.metadata.uid) throw invalid(resource, name);
    if (patched.metadata?.resourceVersion !== existing.metadata.resourceVersion) {
      throw conflict(resource, name);
    }
    return this.update(resource, existing, patched, subresource);
  }

  delete(
    resource: KnownResource<ApiObject>,
    namespace: string,
    name: string,
    options: DeleteOptions,
  ): StoredObject {
    const existing = this.get(resource, namespace, name);
    const { uid, resourceVersion } = options.preconditions ?? {};
    const { metadata } = existing;
    if (
      (uid && uid !== metadata.uid) ||
      (resourceVersion && resourceVersion !== metadata.resourceVersion)
    ) {
      throw conflict(resource, name);
    }
    const finalizers = new Set(metadata.finalizers);
    if (options.propagationPolicy === 'Foreground') finalizers.add('foregroundDeletion');
    if (options.propagationPolicy === 'Orphan') finalizers.add('orphan');
    const graceSeconds = graceSecondsOf(resource, existing, options);
    const isNew = metadata.deletionTimestamp === undefined;
    const terminating: StoredObject = {
      ...existing,
      metadata: {
        ...metadata,
        finalizers: [...finalizers],
        ...(isNew && { generation: (metadata.generation ?? 0) + 1 }),
        deletionTimestamp:
          metadata.deletionTimestamp ?? formatTime(this.clock.nowMs() + graceSeconds * 1000),
        deletionGracePeriodSeconds: Math.min(
          graceSeconds,
          metadata.deletionGracePeriodSeconds ?? graceSeconds,
        ),
      },
    };
    if (resource.plural === 'namespaces') {
      terminating.status = { ...existing.status, phase: 'Terminating' };
    }
    return this.storeOrRemove(resource, terminating, existing);
  }

  private update(
    resource: KnownResource<ApiObject>,
    existing: StoredObject,
    body: StoredObject | ApiObject,
    subresource: string,
  ): StoredObject {
    const written = { ...body, metadata: { ...body.metadata } };
    const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } =
      existing.metadata;
    const fixed = { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds };
    const next: StoredObject = {
      ...(subresource === '' ? written : existing),
      apiVersion: existing.apiVersion,
      kind: existing.kind,
      metadata: definedOnly({
        ...written.metadata,
        ...fixed,
        ...(subresource === 'status' && { labels: existing.metadata.labels }),
        namespace: existing.metadata.namespace,
        generation,
        resourceVersion: existing.metadata.resourceVersion,
      }),
    };
    const source: StoredObject = written;
    if (subresource === 'finalize') next.spec = source.spec;
    else if (subresource === 'status' || subresource === 'approval') next.status = source.status;
    else if (existing.status !== undefined) next.status = existing.status;
    if (subresource === '' && !deepEqual(existing.spec, next.spec)) {
      next.metadata.generation = (generation ?? 0) + 1;
    }
    if (deepEqual(existing, next)) return existing;
    return this.storeOrRemove(resource, next, existing);
  }

  /** Removes an object that is being deleted once it has no finalizer. */
  private storeOrRemove(
    resource: KnownResource<ApiObject>,
    object: StoredObject,
    old: StoredObject,
  ): StoredObject {
    const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
    const namespaceFinalizers =
      resource.plural === 'namespaces' && Array.isArray(object.spec?.finalizers)
        ? object.spec.finalizers
        : [];
    const isHeld = finalizers.length + namespaceFinalizers.length > 0;
    if (!deletionTimestamp || deletionGracePeriodSeconds > 0 || isHeld) {
      return this.store(resource, object, old);
    }
    const { namespace = '', name = '' } = object.metadata;
    this.entries.delete(keyOf(resource, namespace, name));
    const removed = { ...object, metadata: { ...object.metadata, ...this.nextVersion() } };
    this.publish({ resource, type: 'DELETED', version: this.lastVersion, object: removed, old });
    return removed;
  }

  private store(
    resource: KnownResource<ApiObject>,
    object: StoredObject,
    old: StoredObject | undefined,
  ): StoredObject {
    const stored = { ...object, metadata: { ...object.metadata, ...this.nextVersion() } };
    const { namespace = '', name = '' } = stored.metadata;
    this.entries.set(keyOf(resource, namespace, name), { resource, object: stored });
    const type = old ? 'MODIFIED' : 'ADDED';
    this.publish({ resource, type, version: this.lastVersion, object: stored, old });
    return stored;
  }

  private nextVersion() {
    return { resourceVersion: String(++this.lastVersion) };
  }

  private publish(change: Change): void {
    this.changes.push(change);
    for (const listener of this.listeners) listener(change);
  }

  private namespaceOf(name: string): StoredObject | undefined {
    return [...this.entries.values()].find(
      ({ resource, object }) => resource.plural === 'namespaces' && object.metadata.name === name,
    )?.object;
  }
}

function keyOf({ group, plural }: KnownResource<ApiObject>, namespace: string, name: string) {
  return [group, plural, namespace, name].join('/');
}

/** Only pods on a node have a grace period; other objects are deleted immediately. */
function graceSecondsOf(
  resource: KnownResource<ApiObject>,
  { spec, status }: StoredObject,
  options: DeleteOptions,
): number {
  const isFinished = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (resource.plural !== 'pods' || !spec?.nodeName || isFinished) return 0;
  const specified = spec.terminationGracePeriodSeconds;
  const graceSeconds = typeof specified === 'number' ? specified : defaultGraceSeconds;
  return options.gracePeriodSeconds ?? graceSeconds;
}

function definedOnly(metadata: ObjectMeta): ObjectMeta {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
}
