/** Entries of a custom resource as one of its versions shows them, made at first need and kept on the entry. */
import type { ApiObject } from '@orch/api';
import { deepEqual } from '@orch/apimachinery';
import type { Entry, Revision } from '@orch/store';
import { selectorScanBatch } from '../limits.js';
import { freshObject, keepVersion, objectOf, versionOf } from '../registry/entry-view.js';
import { entryShowing } from '../registry/object-bytes.js';
import type { Resource, ServedResource } from '../registry/resource.js';
import type { Converter } from './converter.js';
import { CustomCodec } from './custom-codec.js';

export type Shown = readonly Entry[] | Promise<readonly Entry[]>;

export class VersionReader {
  readonly keyPrefix: string;
  /** This is the version in which objects are stored. */
  readonly isStored: boolean;
  private readonly codec: CustomCodec;
  private readonly storedCodec: CustomCodec;

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
    this.storedCodec = customCodec(stored);
  }

  /** At once where nothing has to be asked of others and there is little to do. */
  shown(entries: readonly Entry[], deadlineMs: number): Shown {
    const known = entries.map((entry) => this.known(entry));
    const missing = entries.filter((_, index) => known[index] === undefined);
    if (missing.length === 0) return this.isStored ? shortcut(entries, known) : whole(known);
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
    const { resource } = this.stored;
    const [converted] = await this.converter.convert([object], this.stored.apiVersion, deadlineMs);
    return { resource, object: this.storedCodec.pruned(converted!) };
  }

  private known(entry: Entry): Entry | undefined {
    if (this.isStored && entry.revision > this.sinceRevision) return entry;
    return versionOf(entry, this.served);
  }

  private made(entries: readonly Entry[], deadlineMs: number): Shown {
    if (this.isStored) return entries.map((entry) => this.keep(entry, freshObject(entry)));
    const objects = entries.map((entry) => this.storedCodec.fromOtherSchema(freshObject(entry)));
    const converted = this.converter.convert(objects, this.served.apiVersion, deadlineMs);
    const keepAll = (all: readonly ApiObject[]) =>
      all.map((object, index) => this.keep(entries[index]!, object));
    return converted instanceof Promise ? converted.then(keepAll) : keepAll(converted);
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
    // What was known may have been dropped meanwhile.
    const known = entries.map((entry) => made.get(entry) ?? this.known(entry));
    const gone = entries.filter((_, index) => known[index] === undefined);
    if (gone.length === 0) return whole(known);
    return merged(known, await this.made(gone, deadlineMs));
  }

  /** `object`: in this version. */
  private keep(entry: Entry, object: ApiObject): Entry {
    const fitting = this.codec.fromOtherSchema(object);
    const isSame = this.isStored && deepEqual(fitting, objectOf(entry));
    const shown = isSame ? entry : entryShowing(this.served.resource, fitting, entry);
    keepVersion(entry, this.served, shown);
    return shown;
  }
}

function whole(entries: readonly (Entry | undefined)[]): readonly Entry[] {
  return entries as readonly Entry[];
}

/** The very list when all are shown as they are. */
function shortcut(
  entries: readonly Entry[],
  known: readonly (Entry | undefined)[],
): readonly Entry[] {
  return entries.every((entry, index) => entry === known[index]) ? entries : whole(known);
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
