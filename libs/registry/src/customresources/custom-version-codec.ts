/**
 * The storage codec of one version of a custom resource: reads show that version, writes are stored
 * in the storage version. Entries in the storage version that were written under the current schema
 * are used as stored. Every commit checks that the definition is still the one that the write was
 * validated against.
 */
import type { Entry, Operation, Revision } from '@orch/store';
import { storedBytes } from '../objects/object-bytes.js';
import { type DecodedEntries, definitionChanged, type EntryCodec } from '../storage/entry-codec.js';
import type { ServedResource } from '../table/resource.js';
import type { ResourceTable } from '../table/resource-table.js';
import type { ConverterFactory } from './converter.js';
import type { CustomResources } from './custom-resources.js';
import { VersionReader } from './version-reader.js';

export class CustomVersionCodec implements EntryCodec {
  private readonly sinceRevision: Revision;

  /** `name`: of the definition. */
  constructor(
    private readonly definitions: CustomResources,
    private readonly name: string,
    private readonly reader: VersionReader,
  ) {
    this.sinceRevision = reader.sinceRevision;
  }

  decode(entries: readonly Entry[], deadlineMs: number): DecodedEntries {
    return this.reader.decode(entries, deadlineMs);
  }

  encode(operation: Operation, deadlineMs: number): Operation | Promise<Operation> {
    const isUnchanged = this.reader.isStored || operation.kind !== 'put';
    return isUnchanged || !this.owns(operation.key)
      ? operation
      : this.encodePut(operation, deadlineMs);
  }

  owns(key: string): boolean {
    return key.startsWith(this.reader.keyPrefix);
  }

  /**
   * Throws 503 when the definition describes objects differently by now: the request must start
   * over.
   */
  definitionCheck(): Operation {
    const definition = this.definitions.definition(this.name);
    if (definition?.sinceRevision !== this.sinceRevision) throw definitionChanged();
    const { key, revision } = definition;
    return { kind: 'check', key, expect: { kind: 'revision', revision } };
  }

  private async encodePut(
    operation: Extract<Operation, { kind: 'put' }>,
    deadlineMs: number,
  ): Promise<Operation> {
    const { resource, object } = await this.reader.encode(operation.bytes, deadlineMs);
    return {
      ...operation,
      bytes: storedBytes(resource, object),
      revisionOffset: resource.revisionOffset,
    };
  }
}

export interface CustomCodecDependencies {
  readonly table: ResourceTable;
  readonly definitions: CustomResources;
  readonly converterFor: ConverterFactory;
}

/** The codec of a served version of a custom resource. Throws 503 while its definition changes. */
export function customCodecFor(
  { table, definitions, converterFor }: CustomCodecDependencies,
  served: ServedResource,
): EntryCodec {
  const { custom } = served.definition;
  if (!custom) throw new Error(`${served.kind} is not a custom resource`);
  const definition = definitions.definition(custom.name);
  const stored = table.customInStorage(custom.name);
  if (!definition || !stored) throw definitionChanged();
  const converter = converterFor(definition.kind);
  const reader = new VersionReader(served, stored, definition.sinceRevision, converter);
  return new CustomVersionCodec(definitions, custom.name, reader);
}
