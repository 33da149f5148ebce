/**
 * Objects by key, with indexes that are always consistent with them. The informer is the only
 * writer. Readers share the stored objects and must not change them.
 */
import type { ApiObject } from '../objects.js';
import { byNamespace } from './indexers.js';
import type { Indexer, Lister } from './lister.js';

interface Index<T> {
  readonly indexer: Indexer<T>;
  readonly objectsByValue: Map<string, Map<string, T>>;
}

const namespaceIndex = 'namespace';

export class IndexedStore<T extends ApiObject> implements Lister<T> {
  private readonly objects = new Map<string, T>();
  private readonly indexes = new Map<string, Index<T>>();

  constructor() {
    this.addIndex(namespaceIndex, byNamespace);
  }

  get objectCount(): number {
    return this.objects.size;
  }

  get(key: string): T | undefined {
    return this.objects.get(key);
  }

  list(namespace?: string): T[] {
    return namespace === undefined
      ? [...this.objects.values()]
      : this.byIndex(namespaceIndex, namespace);
  }

  keys(): string[] {
    return [...this.objects.keys()];
  }

  byIndex(indexName: string, value: string): T[] {
    const index = this.indexes.get(indexName);
    if (!index) throw new Error(`there is no index ${indexName}`);
    return [...(index.objectsByValue.get(value)?.values() ?? [])];
  }

  addIndex(indexName: string, indexer: Indexer<T>): void {
    const existing = this.indexes.get(indexName);
    if (existing) {
      if (existing.indexer !== indexer) throw new Error(`index ${indexName} exists already`);
      return;
    }
    const index: Index<T> = { indexer, objectsByValue: new Map() };
    this.indexes.set(indexName, index);
    for (const [key, object] of this.objects) insert(index, key, object, indexer(object));
  }

  /** @returns the replaced object. */
  set(key: string, object: T): T | undefined {
    const old = this.objects.get(key);
    this.objects.set(key, object);
    for (const index of this.indexes.values()) {
      const values = index.indexer(object);
      if (old) {
        const oldValues = index.indexer(old);
        if (!areSame(values, oldValues)) remove(index, key, oldValues);
      }
      insert(index, key, object, values);
    }
    return old;
  }

  /** @returns the removed object. */
  delete(key: string): T | undefined {
    const old = this.objects.get(key);
    if (!old) return undefined;
    this.objects.delete(key);
    for (const index of this.indexes.values()) remove(index, key, index.indexer(old));
    return old;
  }
}

/** Most updates change no indexed value. */
function areSame(values: readonly string[], oldValues: readonly string[]): boolean {
  if (values.length !== oldValues.length) return false;
  for (let at = 0; at < values.length; at++) if (values[at] !== oldValues[at]) return false;
  return true;
}

function insert<T>(index: Index<T>, key: string, object: T, values: readonly string[]): void {
  for (const value of values) {
    let objects = index.objectsByValue.get(value);
    if (!objects) {
      objects = new Map();
      index.objectsByValue.set(value, objects);
    }
    objects.set(key, object);
  }
}

function remove<T>(index: Index<T>, key: string, values: readonly string[]): void {
  for (const value of values) {
    const objects = index.objectsByValue.get(value);
    objects?.delete(key);
    if (objects?.size === 0) index.objectsByValue.delete(value);
  }
}
