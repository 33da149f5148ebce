/**
 * The indexes of watches with a field selector: one for the names of a resource, one for each
 * selectable field. The store groups watches by the index object, so each is created once.
 */
import type { ApiObject } from '@orch/api';
import type { Entry, WatchIndex } from '@orch/store';
import { objectOf } from '../objects/entry-view.js';
import type { Resource } from '../table/resource.js';

export type FieldReader = (object: ApiObject) => string;

const nameIndexes = new WeakMap<Resource, WatchIndex>();
const fieldIndexes = new WeakMap<FieldReader, WatchIndex>();

export function nameIndex(resource: Resource): WatchIndex {
  return found(nameIndexes, resource, (entry) => resource.nameOfKey(entry.key));
}

export function fieldIndex(read: FieldReader): WatchIndex {
  return found(fieldIndexes, read, (entry) => {
    try {
      return read(objectOf(entry));
    } catch {
      // Every watch gets the event; its selection fails on it too, which ends and logs the watch.
      return undefined;
    }
  });
}

function found<Key extends object>(
  indexes: WeakMap<Key, WatchIndex>,
  key: Key,
  read: (entry: Entry) => string | undefined,
): WatchIndex {
  const existing = indexes.get(key);
  if (existing) return existing;
  const index = { valueOf: read };
  indexes.set(key, index);
  return index;
}
