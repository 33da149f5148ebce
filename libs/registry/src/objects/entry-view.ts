/**
 * Values that readers derive from an entry's bytes on first use and cache on it: the parsed object,
 * and the bytes of other versions and formats. Parsed objects are many times larger than their
 * bytes, so the oldest are dropped when their total exceeds a fixed size. Parsed objects are shared
 * by all readers and must not be modified.
 */
import type { ApiObject } from '@orch/api';
import type { Entry } from '@orch/store';
import { parsedCacheBytesMax } from '../limits.js';

export class EntryView {
  object: ApiObject | undefined;
  /** Bytes by representation, such as `apps/v1 protobuf`. */
  readonly encodings = new Map<string, Buffer>();
  /** The entry as other versions of a custom resource show it, by version. */
  readonly versions = new Map<object, Entry>();
  /** Shows something else than what would be stored: writing it again is a change. */
  isStale = false;
}

/** The view of an entry, made when it has none. */
export function viewOf(entry: Entry): EntryView {
  if (entry.derived instanceof EntryView) return entry.derived;
  const view = new EntryView();
  entry.derived = view;
  return view;
}

class ParsedObjects {
  private queue: { view: EntryView; bytes: number }[] = [];
  private head = 0;
  private bytesHeld = 0;

  hold(view: EntryView, bytes: number): void {
    this.queue.push({ view, bytes });
    this.bytesHeld += bytes;
    while (this.bytesHeld > parsedCacheBytesMax) this.dropOldest();
  }

  private dropOldest(): void {
    const oldest = this.queue[this.head]!;
    oldest.view.object = undefined;
    oldest.view.encodings.clear();
    oldest.view.versions.clear();
    this.bytesHeld -= oldest.bytes;
    this.head += 1;
    if (this.head > 1_024 && this.head * 2 > this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
  }
}

const parsedObjects = new ParsedObjects();

/**
 * The stored object. Shared: never change it. A caller that knows the kind of the key passes its
 * type as `T`, which is never inferred; the bytes are not checked against it.
 */
export function objectOf<T extends ApiObject = ApiObject>(entry: Entry): NoInfer<T> {
  const { derived } = entry;
  if (derived instanceof EntryView && derived.object !== undefined) return derived.object as T;
  const view = viewOf(entry);
  view.object = freshObject(entry);
  parsedObjects.hold(view, entry.bytes.length);
  return view.object as T;
}

/** A copy of the stored object to work on. `T` as in `objectOf`. */
export function freshObject<T extends ApiObject = ApiObject>(entry: Entry): NoInfer<T> {
  return JSON.parse(entry.bytes.toString()) as T;
}

/** Bytes made once per entry and representation. */
export function encodingOf(entry: Entry, key: string, encode: () => Buffer): Buffer {
  const view = viewOf(entry);
  let bytes = view.encodings.get(key);
  if (bytes === undefined) {
    bytes = encode();
    view.encodings.set(key, bytes);
    parsedObjects.hold(view, bytes.length);
  }
  return bytes;
}

export function markStale(entry: Entry): void {
  viewOf(entry).isStale = true;
}

/** Whether writing the object again, unchanged, would store something else. */
export function isStale(entry: Entry): boolean {
  return entry.derived instanceof EntryView && entry.derived.isStale;
}

/** The entry as `version` shows it, when that was made before. */
export function versionOf(entry: Entry, version: object): Entry | undefined {
  return viewOf(entry).versions.get(version);
}

export function keepVersion(entry: Entry, version: object, shown: Entry): void {
  const view = viewOf(entry);
  view.versions.set(version, shown);
  parsedObjects.hold(view, shown.bytes.length);
}
