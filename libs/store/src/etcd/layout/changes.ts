/**
 * Converts etcd's events to changes of the store. Pure. Invariants: the changes of one revision
 * stay together, in order; keys outside of the prefix are ignored.
 */
import { type Revision, StoreError, type WatchEvent } from '../../versioned-store.js';
import { type EtcdEvent, eventType, type KeyValue } from '../client/messages.js';
import { decodeValue, EtcdEntry, type Unspliced } from './etcd-entry.js';
import { decodeFinal, type KeyLayout, toStoreRevision } from './key-layout.js';

/** One key put or deleted. */
export interface Change {
  readonly key: string;
  /** Undefined for a deletion. */
  readonly put: EtcdEntry | undefined;
  /** The last version that was stored with a deletion. */
  readonly final: Unspliced | undefined;
  /** Whether the key existed before. */
  readonly existed: boolean;
  /** The version before, if the stream requests it. */
  readonly previous: EtcdEntry | undefined;
}

/** The changes of one revision; empty if it changed no key of this store. */
export interface Commit {
  readonly revision: Revision;
  readonly changes: readonly Change[];
}

export function entryOf(key: string, kv: KeyValue): EtcdEntry {
  const [created, revision] = [toStoreRevision(kv.createRevision), toStoreRevision(kv.modRevision)];
  return EtcdEntry.of(key, decodeValue(key, kv.value), created, revision);
}

/** Throws StoreError `Corrupt` for a value that this store did not write. */
export function commitsOf(events: readonly EtcdEvent[], layout: KeyLayout): Commit[] {
  const commits: Commit[] = [];
  for (let from = 0; from < events.length; ) {
    const etcdRevision = events[from]!.kv.modRevision;
    let end = from + 1;
    while (end < events.length && events[end]!.kv.modRevision === etcdRevision) end += 1;
    const together = events.slice(from, end);
    commits.push({ revision: toStoreRevision(etcdRevision), changes: changesOf(together, layout) });
    from = end;
  }
  return commits;
}

function changesOf(events: readonly EtcdEvent[], layout: KeyLayout): Change[] {
  const finals = new Map<string, Unspliced>();
  for (const { kv, type } of events) {
    if (type !== eventType.put || !layout.isFinal(kv.key)) continue;
    const { key, value } = decodeFinal(kv.value);
    finals.set(key, decodeValue(key, value));
  }
  const changes: Change[] = [];
  for (const { kv, prevKv, type } of events) {
    const key = layout.keyOf(kv.key);
    if (key === undefined) continue;
    const deleted = type === eventType.delete;
    changes.push({
      key,
      put: deleted ? undefined : entryOf(key, kv),
      final: deleted ? finals.get(key) : undefined,
      existed: deleted || kv.version > 1,
      previous: prevKv ? entryOf(key, prevKv) : undefined,
    });
  }
  return changes;
}

/**
 * Returns the watch event of a change; `previous` is the version before it. Throws StoreError
 * `Corrupt` for a deletion without one.
 */
export function eventOf(
  { key, put, final }: Change,
  previous: EtcdEntry | undefined,
  revision: Revision,
): EtcdWatchEvent {
  if (put) return { revision, kind: 'put', key, previous, entry: put, derived: undefined };
  if (!previous) {
    throw new StoreError(
      'Corrupt',
      `etcd deleted ${key} at revision ${revision}, which did not exist: restart this server to load the state again`,
    );
  }
  const entry = final
    ? EtcdEntry.of(key, final, previous.createRevision, revision)
    : previous.deletedAt(revision);
  return { revision, kind: 'delete', key, previous, entry, derived: undefined };
}

export interface EtcdWatchEvent extends WatchEvent {
  readonly previous: EtcdEntry | undefined;
  readonly entry: EtcdEntry;
}
