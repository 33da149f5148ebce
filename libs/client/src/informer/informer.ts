/**
 * A local, indexed copy of a resource that list and watch keep up to date. Objects lack their
 * `managedFields`, a large part of them that only the server reads: it keeps those of an object
 * that is sent without any.
 */
import { type Clock, type Logger, systemClock, type Timer } from '@orch/component';
import { type ApiObject, objectKey } from '../objects.js';
import type { ApiClient } from '../rest/api-client.js';
import type { ResourceRef } from '../rest/resource-ref.js';
import { IndexedStore } from './indexed-store.js';
import type { Indexer, Lister } from './lister.js';
import { Reflector } from './reflector.js';

export interface ResourceHandlers<T> {
  onAdd?(object: T): void;
  /** `object === old` on a resync. */
  onUpdate?(object: T, old: T): void;
  /**
   * `isLastStateKnown` is false when the deletion was found by a relist: `object` may be outdated.
   */
  onDelete?(object: T, isLastStateKnown: boolean): void;
  /** Called after every complete list, and for an informer that has synced already. */
  onSynced?(): void;
}

type HandlerName = keyof ResourceHandlers<unknown>;
type Change<T, Name extends HandlerName> = Parameters<NonNullable<ResourceHandlers<T>[Name]>>;

export interface InformerSelection {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

/** A cache, for people. */
export interface CacheView {
  readonly resource: string;
  readonly selection: InformerSelection;
  readonly objectCount: number;
  readonly isSynced: boolean;
}

export interface InformerOptions<T extends ApiObject> extends InformerSelection {
  client: ApiClient;
  resource: ResourceRef<T>;
  /** How often to call `onUpdate` of all handlers for every object; 0 disables resyncs. */
  resyncPeriodMs?: number;
  indexers?: Record<string, Indexer<T>>;
  logger: Logger;
  clock?: Clock;
  random?: () => number;
}

export class Informer<T extends ApiObject> {
  readonly lister: Lister<T>;
  private readonly store = new IndexedStore<T>();
  private readonly handlers = new Set<ResourceHandlers<T>>();
  private readonly clock: Clock;
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private resyncTimer: Timer | undefined;
  private synced = false;
  private waiters: (() => void)[] = [];

  constructor(private readonly options: InformerOptions<T>) {
    this.lister = this.store;
    this.clock = options.clock ?? systemClock;
    for (const [name, indexer] of Object.entries(options.indexers ?? {})) {
      this.store.addIndex(name, indexer);
    }
  }

  /** Calls `onAdd` for all known objects first. @returns the function that removes the handlers. */
  addHandlers(handlers: ResourceHandlers<T>): () => void {
    this.handlers.add(handlers);
    for (const object of this.store.list()) this.notify([handlers], 'onAdd', object);
    if (this.synced) this.notify([handlers], 'onSynced');
    return () => this.handlers.delete(handlers);
  }

  /** Adds an index, at any time. Adding the same indexer again has no effect. */
  addIndex(indexName: string, indexer: Indexer<T>): void {
    this.store.addIndex(indexName, indexer);
  }

  start(): void {
    if (this.running || this.stopping.signal.aborted) return;
    const { client, resource, namespace, labelSelector, fieldSelector, logger } = this.options;
    const reflector = new Reflector<T>({
      source: client.resource(resource, namespace),
      selection: {
        ...(labelSelector ? { labelSelector } : {}),
        ...(fieldSelector ? { fieldSelector } : {}),
      },
      sink: {
        replace: (objects) => this.replace(objects),
        set: (object) => this.set(object),
        delete: (object) => this.delete(object),
      },
      logger: logger.child({ resource: resource.plural }),
      clock: this.clock,
      random: this.options.random ?? Math.random,
    });
    this.running = reflector.run(this.stopping.signal);
    this.scheduleResync();
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error('the informer is stopped'));
    this.resyncTimer?.cancel();
    await this.running;
    this.wakeWaiters();
  }

  /** Whether the first list is complete and the handlers were called for it. */
  hasSynced(): boolean {
    return this.synced;
  }

  view(): CacheView {
    const { resource, namespace, labelSelector, fieldSelector } = this.options;
    return {
      resource: [resource.plural, resource.version, resource.group].join('.'),
      selection: { namespace, labelSelector, fieldSelector },
      objectCount: this.store.objectCount,
      isSynced: this.synced,
    };
  }

  /** Resolves when synced; rejects after `timeoutMs` or when stopped. */
  async whenSynced(timeoutMs: number): Promise<void> {
    if (!this.synced) {
      await new Promise<void>((resolve) => {
        const timer = this.clock.setTimer(timeoutMs, resolve);
        this.waiters.push(() => {
          timer.cancel();
          resolve();
        });
      });
    }
    if (this.synced) return;
    const { plural } = this.options.resource;
    throw new Error(
      this.stopping.signal.aborted
        ? `the informer of ${plural} was stopped before it had synced`
        : `${plural} did not sync within ${timeoutMs} ms`,
    );
  }

  private replace(objects: T[]): void {
    const present = new Set(objects.map(objectKey));
    for (const key of this.store.keys()) {
      if (present.has(key)) continue;
      const old = this.store.delete(key)!;
      this.dispatch('onDelete', old, false);
    }
    for (const object of objects) this.set(object);
    this.synced = true;
    this.dispatch('onSynced');
    this.wakeWaiters();
  }

  private set(object: T): void {
    delete (object.metadata as { managedFields?: unknown } | undefined)?.managedFields;
    const key = objectKey(object);
    const old = this.store.get(key);
    if (old && old.metadata?.uid !== object.metadata?.uid) {
      // Deleted and recreated under the same name between two events: two objects, two calls.
      this.store.delete(key);
      this.dispatch('onDelete', old, false);
    } else if (old) {
      this.store.set(key, object);
      this.dispatch('onUpdate', object, old);
      return;
    }
    this.store.set(key, object);
    this.dispatch('onAdd', object);
  }

  private delete(object: T): void {
    if (!this.store.delete(objectKey(object))) return;
    this.dispatch('onDelete', object, true);
  }

  private dispatch<Name extends HandlerName>(name: Name, ...change: Change<T, Name>): void {
    this.notify(this.handlers, name, ...change);
  }

  /** An error of one handler must not withhold a change from the others. */
  private notify<Name extends HandlerName>(
    receivers: Iterable<ResourceHandlers<T>>,
    name: Name,
    ...change: Change<T, Name>
  ): void {
    for (const handlers of receivers) {
      // The name fixes the parameters.
      const handler = handlers[name] as ((...change: Change<T, Name>) => void) | undefined;
      try {
        handler?.apply(handlers, change);
      } catch (error) {
        this.options.logger.error(
          { err: error, resource: this.options.resource.plural },
          'informer handler failed',
        );
      }
    }
  }

  private scheduleResync(): void {
    const periodMs = this.options.resyncPeriodMs ?? 0;
    if (periodMs <= 0) return;
    this.resyncTimer = this.clock.setTimer(periodMs, () => {
      for (const object of this.store.list()) {
        this.dispatch('onUpdate', object, object);
      }
      this.scheduleResync();
    });
  }

  private wakeWaiters(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const wake of waiters) wake();
  }
}
