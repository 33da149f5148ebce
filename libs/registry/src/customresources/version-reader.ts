/**
 * Entries of a custom resource in one of its versions, converted at first need and cached on the
 * stored entry.
 */
import type { ApiObject } from '@orch/api';
import { deepEqual } from '@orch/apimachinery';
import type { Entry, Revision } from '@orch/store';
import { CustomCodec } from '../codec/custom-codec.js';
import { selectorScanBatch } from '../limits.js';
import {
  freshObject,
  isStale,
  keepVersion,
  markStale,
  objectOf,
  versionOf,
} from '../objects/entry-view.js';
import { entryShowing } from '../objects/object-bytes.js';
import type { DecodedEntries } from '../storage/entry-codec.js';
import type { Resource, ServedResource } from '../table/resource.js';
import type { Converter } from './converter.js';

type Objects = readonly ApiObject[] | Promise<readonly ApiObject[]>;

export class VersionReader {
  readonly keyPrefix: string;
  /** Whether this version is the storage version. */
  readonly isStored: boolean;
  private readonly codec: CustomCodec;
  /** The first bytes of every object in the storage version. */
  private readonly storedHead: Buffer;

  /**
   * `stored`: the storage version. Entries newer than `sinceRevision` were written under its
   * current schema.
   */
  constructor(
    private readonly served: ServedResource,
    private readonly stored: ServedResource,
    readonly sinceRevision: Revision,
    private readonly converter: Converter,
  ) {
    this.keyPrefix = served.resource.keyPrefix;
    this.isStored = served.version === stored.version;
    this.codec = customCodec(served);
    this.storedHead = Buffer.from(stored.resource.versionHead);
  }

  /** Synchronous if no webhook has to convert and there are few entries. */
  decode(entries: readonly Entry[], deadlineMs: number): DecodedEntries {
    const cached = entries.map((entry) => this.cached(entry));
    const missing = entries.filter((_, index) => cached[index] === undefined);
    if (missing.length === 0) return unlessChanged(entries, cached);
    if (missing.length > selectorScanBatch) return this.inBatches(entries, missing, deadlineMs);
    const converted = this.convertAll(missing, deadlineMs);
    return converted instanceof Promise
      ? converted.then((all) => merged(cached, all))
      : merged(cached, converted);
  }

  /** The object in the storage version. `bytes`: in this version. */
  async encode(
    bytes: Buffer,
    deadlineMs: number,
  ): Promise<{ resource: Resource; object: ApiObject }> {
    const object = JSON.parse(bytes.toString()) as ApiObject;
    const { resource, apiVersion } = this.stored;
    const [converted] = await this.converter.convert([object], apiVersion, deadlineMs);
    return { resource, object: customCodec(this.stored).trim(converted!) };
  }

  private cached(entry: Entry): Entry | undefined {
    if (this.isStored && entry.revision > this.sinceRevision && this.isInStorage(entry)) {
      return entry;
    }
    return versionOf(entry, this.served);
  }

  /** An object stored in a former storage version keeps that version until its next write. */
  private isInStorage({ bytes }: Entry): boolean {
    const { length } = this.storedHead;
    return bytes.length >= length && bytes.compare(this.storedHead, 0, length, 0, length) === 0;
  }

  private convertAll(entries: readonly Entry[], deadlineMs: number): DecodedEntries {
    const objects = this.converted(entries.map(freshObject), deadlineMs);
    const keepAll = (all: readonly ApiObject[]) =>
      all.map((object, index) => this.keep(entries[index]!, object));
    return objects instanceof Promise ? objects.then(keepAll) : keepAll(objects);
  }

  /** The objects in this version, in the same order. Owns and changes `stored`. */
  private converted(stored: readonly ApiObject[], deadlineMs: number): Objects {
    const { apiVersion, resource } = this.served;
    for (const object of stored) {
      const source = resource.versions.get(object.apiVersion ?? '');
      if (source) customCodec(source).fromStore(object);
    }
    const isOther = stored.map((object) => object.apiVersion !== apiVersion);
    const others = stored.filter((_, index) => isOther[index]);
    if (others.length === 0) return stored;
    const merge = (all: readonly ApiObject[]) => {
      let next = 0;
      return stored.map((object, index) =>
        isOther[index] ? this.codec.trim(all[next++]!) : object,
      );
    };
    const converted = this.converter.convert(others, apiVersion, deadlineMs);
    return converted instanceof Promise ? converted.then(merge) : merge(converted);
  }

  /** Yields to the event loop between batches. */
  private async inBatches(
    entries: readonly Entry[],
    missing: readonly Entry[],
    deadlineMs: number,
  ): Promise<readonly Entry[]> {
    const converted = new Map<Entry, Entry>();
    for (let from = 0; from < missing.length; from += selectorScanBatch) {
      const batch = missing.slice(from, from + selectorScanBatch);
      const decoded = await this.convertAll(batch, deadlineMs);
      for (const [index, entry] of batch.entries()) converted.set(entry, decoded[index]!);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const cached = entries.map((entry) => converted.get(entry) ?? this.cached(entry));
    // Cached entries may have been dropped in the meantime.
    const dropped = entries.filter((_, index) => cached[index] === undefined);
    return dropped.length === 0
      ? unlessChanged(entries, cached)
      : merged(cached, await this.convertAll(dropped, deadlineMs));
  }

  /** `object`: in this version. */
  private keep(entry: Entry, object: ApiObject): Entry {
    const isSame = this.isInStorage(entry) && this.isStored && deepEqual(object, objectOf(entry));
    const decoded = isSame ? entry : entryShowing(this.served.resource, object, entry);
    const isOther = this.isStored ? !isSame : !this.isInStorage(entry);
    if (isOther || isStale(entry)) markStale(decoded);
    keepVersion(entry, this.served, decoded);
    return decoded;
  }
}

/** The same array if no entry changes. */
function unlessChanged(
  entries: readonly Entry[],
  cached: readonly (Entry | undefined)[],
): readonly Entry[] {
  const isSame = entries.every((entry, index) => entry === cached[index]);
  return isSame ? entries : merged(cached, []);
}

/** `converted`: the entries that are undefined in `cached`, in that order. */
function merged(
  cached: readonly (Entry | undefined)[],
  converted: readonly Entry[],
): readonly Entry[] {
  let next = 0;
  return cached.map((entry) => entry ?? converted[next++]!);
}

function customCodec({ codec }: ServedResource): CustomCodec {
  if (!(codec instanceof CustomCodec))
    throw new Error(`${codec.name} is not the codec of a custom resource`);
  return codec;
}
