/** Reads the local copy of a resource by key, by namespace or by an index. */
/** Returns the values under which an index lists the object. */
export type Indexer<T> = (object: T) => readonly string[];

export interface Lister<T> {
  /** By `namespace/name`, or `name`. Objects are shared and must not be changed. */
  get(key: string): T | undefined;
  /** All objects, or the objects of one namespace. */
  list(namespace?: string): T[];
  keys(): string[];
  /** The objects under `value` in an index. Throws if the index does not exist. */
  byIndex(indexName: string, value: string): T[];
  readonly objectCount: number;
}
