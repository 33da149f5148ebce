/**
 * One object in the representation a request wants. The stored version as JSON is sent as stored.
 */
import type { ApiObject } from '@orch/api';
import { codecFor, wrapUnknown, yamlWriteTags } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Resource, ServedResource } from '@orch/registry';
import { encodingOf, metadataBytes, objectOf } from '@orch/registry';
import type { Entry } from '@orch/store';
import { stringify } from 'yaml';
import type { Representation } from '../request/accept.js';
import type { ViewOptions } from '../request/representation.js';
import { partialObject, rowOf, tableOf } from './table.js';

/** JSON of any value, as wide as the client wants it. */
export function jsonBytes(value: unknown, pretty: boolean): Buffer {
  return Buffer.from(pretty ? `${JSON.stringify(value, null, 2)}\n` : JSON.stringify(value));
}

/** Clients read YAML 1.1 or 1.2: text that is no text to either of them is quoted. */
const yamlStyle = {
  version: '1.1',
  compat: 'core',
  customTags: yamlWriteTags,
  sortMapEntries: true,
  aliasDuplicateObjects: false,
  indentSeq: false,
  lineWidth: 0,
} as const;

export function yamlBytes(value: unknown): Buffer {
  return Buffer.from(stringify(value, yamlStyle));
}

/** JSON of the object in a served version. */
export function objectJson(served: ServedResource, entry: Entry): Buffer {
  if (served.isStored) return entry.bytes;
  const { resource } = served;
  if (served.sameShape) {
    return Buffer.concat([served.head, entry.bytes.subarray(resource.storedHeadBytes)]);
  }
  return encodingOf(entry, `${served.apiVersion} json`, () =>
    jsonBytes(served.fromStored(objectOf(entry)), false),
  );
}

/** The message of the object in a served version, without its envelope. */
export function objectMessage(served: ServedResource, entry: Entry): Buffer {
  return encodingOf(entry, `${served.apiVersion} protobuf`, () =>
    served.codec.toProtobuf(served.fromStored(objectOf(entry))),
  );
}

export function encodeObject(served: ServedResource, entry: Entry, view: ViewOptions): Buffer {
  const { representation } = view;
  if (representation.view !== 'object') return encodeView(served, entry, view);
  switch (representation.format) {
    case 'json':
      return representation.pretty
        ? jsonBytes(served.fromStored(objectOf(entry)), true)
        : objectJson(served, entry);
    case 'yaml':
      return yamlBytes(served.fromStored(objectOf(entry)));
    case 'protobuf':
      return wrapUnknown(served.apiVersion, served.kind, objectMessage(served, entry));
  }
}

function encodeView(served: ServedResource, entry: Entry, view: ViewOptions): Buffer {
  const { representation, include, nowMs } = view;
  const object = objectOf(entry);
  if (representation.view === 'Table') {
    const row = rowOf(served, object, representation.viewVersion, include, nowMs);
    const metadata = { resourceVersion: object.metadata?.resourceVersion ?? '' };
    const table = tableOf(served, representation.viewVersion, metadata, [row], true);
    return encodeValue(table, representation);
  }
  if (representation.format === 'protobuf') return partialMessage(object, representation);
  return encodeValue(partialObject(object, representation.viewVersion), representation);
}

/** JSON of the metadata in stored bytes as an object of its own, in parts. */
export function partialJson(resource: Resource, bytes: Buffer, viewVersion: string): Buffer[] {
  return [partialHead(viewVersion), metadataBytes(resource, bytes), objectTail];
}

const objectTail = Buffer.from('}');
const partialHeads = new Map<string, Buffer>();

function partialHead(viewVersion: string): Buffer {
  let head = partialHeads.get(viewVersion);
  if (!head) {
    const { metadata: _, ...type } = partialObject({}, viewVersion);
    head = Buffer.from(`${JSON.stringify(type).slice(0, -1)},"metadata":`);
    partialHeads.set(viewVersion, head);
  }
  return head;
}

/** The message of an object's metadata, without its envelope. */
export function partialObjectMessage(object: ApiObject): Buffer {
  return codecFor('meta/v1.PartialObjectMetadata').toProtobuf({ metadata: object.metadata ?? {} });
}

function partialMessage(object: ApiObject, representation: Representation): Buffer {
  const apiVersion = `${dialect().metaGroup}/${representation.viewVersion}`;
  return wrapUnknown(apiVersion, 'PartialObjectMetadata', partialObjectMessage(object));
}

/** A plain value as JSON or YAML. */
export function encodeValue(value: unknown, { format, pretty }: Representation): Buffer {
  return format === 'yaml' ? yamlBytes(value) : jsonBytes(value, pretty);
}
