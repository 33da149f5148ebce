/** A local, indexed and always converging copy of a resource, fed by list and watch. */
import type { Clock, Logger } from '@orch/component';
import type { ApiObject } from '../objects.js';
import type { ResourceRef } from '../rest/resource-ref.js';
import type { RestClient } from '../rest/rest-client.js';

/** Values under which an object is found in an index. */
export type Indexer<T> = (object: T) => readonly string[];

export interface ResourceHandlers<T> {
  onAdd?(object: T): void;
  /** `object === old` on a resync. */
  onUpdate?(object: T, old: T): void;
  /** `isLastStateKnown` is false when the deletion was found by a relist: `object` may be outdated. */
  onDelete?(object: T, isLastStateKnown: boolean): void;
}

export interface Lister<T> {
  /** By `namespace/name`, or `name`. Objects are shared: never change one. */
  get(key: string): T | undefined;
  /** All, or those of one namespace. */
  list(namespace?: string): T[];
  keys(): string[];
  /** Objects that the named index files under `value`. Throws if there is no such index. */
  byIndex(indexName: string, value: string): T[];
  readonly objectCount: number;
}

export interface InformerSelection {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
}

export interface InformerOptions<T extends ApiObject> extends InformerSelection {
  client: RestClient;
  resource: ResourceRef<T>;
  /** Calls every handler's `onUpdate` for every object this often; 0 is never. */
  resyncPeriodMs?: number;
  indexers?: Record<string, Indexer<T>>;
  logger: Logger;
  clock?: Clock;
  random?: () => number;
}

export declare class Informer<T extends ApiObject> {
  constructor(options: InformerOptions<T>);
  readonly lister: Lister<T>;
  /** Handlers get an add for everything already known. Returns a function that removes them. */
  addHandlers(handlers: ResourceHandlers<T>): () => void;
  /** Adds an index; allowed at any time. */
  addIndex(indexName: string, indexer: Indexer<T>): void;
  start(): void;
  stop(): Promise<void>;
  /** Whether the first list is complete and handed to the handlers. */
  hasSynced(): boolean;
  /** Resolves when synced; rejects after `timeoutMs` or when stopped. */
  whenSynced(timeoutMs: number): Promise<void>;
}
