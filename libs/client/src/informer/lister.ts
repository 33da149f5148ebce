/** Reading the local copy of a resource: by key, by namespace, and by the indexes it was given. */
/** Values under which an object is found in an index. */
export type Indexer<T> = (object: T) => readonly string[];

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
