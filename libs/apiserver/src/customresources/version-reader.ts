/** Entries of a custom resource as one of its versions shows them, made at first need and kept on the entry. */
import type { ApiObject } from '@orch/api';
import { deepEqual } from '@orch/apimachinery';
import type { Entry, Revision } from '@orch/store';
import { selectorScanBatch } from '../limits.js';
import {
  freshObject,
  keepVersion,
  markStale,
  objectOf,
  versionOf,
} from '../registry/entry-view.js';
import { entryShowing } from '../registry/object-bytes.js';
import type { Resource, ServedResource } from '../registry/resource.js';
import type { Converter } from './converter.js';
import { CustomCodec } from './custom-codec.js';

export type Shown = readonly Entry[] | Promise<readonly Entry[]>;
type Objects = readonly ApiObject[] | Promise<readonly ApiObject[]>;

export class VersionReader {
  readonly keyPrefix: string;
  /** This is the version in which objects are stored. */
  readonly isStored: boolean;
  private readonly codec: CustomCodec;
  /** What bytes in the storage version begin with. */
  private readonly storedHead: Buffer;

  /** `stored`: the storage version. Entries newer than `sinceRevision` were written as it is now. */
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

  /** At once where nothing has to be asked of others and there is little to do. */
  shown(entries: readonly Entry[], deadlineMs: number): Shown {
    const known = entries.map((entry) => this.known(entry));
    const missing = entries.filter((_, index) => known[index] === undefined);
    if (missing.length === 0) return shortcut(entries, known);
    if (missing.length > selectorScanBatch) return this.inBatches(entries, missing, deadlineMs);
    const made = this.made(missing, deadlineMs);
    return made instanceof Promise ? made.then((all) => merged(known, all)) : merged(known, made);
  }

  /** What is to be stored of an object in this version's bytes. */
  async toStored(
    bytes: Buffer,
    deadlineMs: number,
  ): Promise<{ resource: Resource; object: ApiObject }> {
    const object = JSON.parse(bytes.toString()) as ApiObject;
    const { resource, apiVersion } = this.stored;
    const [converted] = await this.converter.convert([object], apiVersion, deadlineMs);
    return { resource, object: customCodec(this.stored).trim(converted!) };
  }

  private known(entry: Entry): Entry | undefined {
    if (this.isStored && entry.revision > this.sinceRevision && this.isInStorage(entry)) {
      return entry;
    }
    return versionOf(entry, this.served);
  }

  /** What was written while another version was the storage version stays as it is until it is written again. */
  private isInStorage({ bytes }: Entry): boolean {
    const { length } = this.storedHead;
    return bytes.length >= length && bytes.compare(this.storedHead, 0, length, 0, length) === 0;
  }

  private made(entries: readonly Entry[], deadlineMs: number): Shown {
    const objects = this.converted(entries.map(freshObject), deadlineMs);
    const keepAll = (all: readonly ApiObject[]) =>
      all.map((object, index) => this.keep(entries[index]!, object));
    return objects instanceof Promise ? objects.then(keepAll) : keepAll(objects);
  }

  /** Objects in this version, in the same order; takes those it is given. */
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

  /** Lets the event loop go in between. */
  private async inBatches(
    entries: readonly Entry[],
    missing: readonly Entry[],
    deadlineMs: number,
  ): Promise<readonly Entry[]> {
    const made = new Map<Entry, Entry>();
    for (let from = 0; from < missing.length; from += selectorScanBatch) {
      const batch = missing.slice(from, from + selectorScanBatch);
      const shown = await this.made(batch, deadlineMs);
      for (const [index, entry] of batch.entries()) made.set(entry, shown[index]!);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const known = entries.map((entry) => made.get(entry) ?? this.known(entry));
    // What was known may have been dropped meanwhile.
    const gone = entries.filter((_, index) => known[index] === undefined);
    return gone.length === 0
      ? shortcut(entries, known)
      : merged(known, await this.made(gone, deadlineMs));
  }

  /** `object`: in this version. */
  private keep(entry: Entry, object: ApiObject): Entry {
    const isSame = this.isInStorage(entry) && this.isStored && deepEqual(object, objectOf(entry));
    const shown = isSame ? entry : entryShowing(this.served.resource, object, entry);
    if (this.isStored ? !isSame : !this.isInStorage(entry)) markStale(shown);
    keepVersion(entry, this.served, shown);
    return shown;
  }
}

/** The very list when all are shown as they are. */
function shortcut(
  entries: readonly Entry[],
  known: readonly (Entry | undefined)[],
): readonly Entry[] {
  const isSame = entries.every((entry, index) => entry === known[index]);
  return isSame ? entries : merged(known, []);
}

/** `made`: in the order of those that are missing in `known`. */
function merged(known: readonly (Entry | undefined)[], made: readonly Entry[]): readonly Entry[] {
  let next = 0;
  return known.map((entry) => entry ?? made[next++]!);
}

function customCodec({ codec }: ServedResource): CustomCodec {
  if (!(codec instanceof CustomCodec)) throw new Error(`${codec.name} is no custom resource`);
  return codec;
}
