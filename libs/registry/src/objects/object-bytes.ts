/**
 * Objects as bytes: how they are stored, and how an object that is not in the store (a dry run's
 * result, the last state of something deleted) becomes an entry like any other.
 */
import type { ApiObject } from '@orch/api';
import { invariant } from '@orch/component';
import { type Entry, noRevision, type Revision, toRevision } from '@orch/store';
import type { Resource } from '../table/resource.js';

/** `{"a":1}` -> `,"a":1}`, `{}` -> `}`. */
function continuation(json: string): string {
  return json.length === 2 ? '}' : `,${json.slice(1)}`;
}

/** JSON of everything but apiVersion, kind, metadata and, inside it, the resource version. */
function parts(object: ApiObject): { metadata: string; rest: string } {
  const { metadata = {}, apiVersion, kind } = object;
  const { resourceVersion } = metadata;
  metadata.resourceVersion = undefined;
  object.apiVersion = undefined;
  object.kind = undefined;
  object.metadata = undefined;
  const result = { metadata: JSON.stringify(metadata), rest: JSON.stringify(object) };
  metadata.resourceVersion = resourceVersion;
  object.apiVersion = apiVersion;
  object.kind = kind;
  object.metadata = metadata;
  return result;
}

/** What the store keeps: an empty version at `resource.revisionOffset`, filled in when applied. */
export function storedBytes(resource: Resource, object: ApiObject): Buffer {
  const { metadata, rest } = parts(object);
  return Buffer.from(`${resource.versionHead}"${continuation(metadata)}${continuation(rest)}`);
}

/** The entry with `object` in place of its stored object. */
export function entryShowing(resource: Resource, object: ApiObject, stored: Entry): Entry {
  const { key, createRevision, revision } = stored;
  const bytes = bytesWithVersion(resource, object);
  return { key, bytes, createRevision, revision, derived: undefined };
}

/** An entry that is in no store; its version is that of the object, absent when it has none. */
export function detachedEntry(resource: Resource, object: ApiObject, key: string): Entry {
  const version = object.metadata?.resourceVersion ?? '';
  return {
    key,
    bytes: bytesWithVersion(resource, object),
    createRevision: noRevision,
    revision: version === '' ? noRevision : toRevision(Number(version)),
    derived: undefined,
  };
}

/** Stored bytes with the version of the object, if it has one. */
function bytesWithVersion(resource: Resource, object: ApiObject): Buffer {
  const version = object.metadata?.resourceVersion ?? '';
  const { metadata, rest } = parts(object);
  return Buffer.from(
    version === ''
      ? `${resource.storedHead}"metadata":${metadata}${continuation(rest)}`
      : `${resource.versionHead}${version}"${continuation(metadata)}${continuation(rest)}`,
  );
}

/** Is that what is stored already, the version aside? `bytes` as from `storedBytes`. */
export function sameStoredBytes(resource: Resource, bytes: Buffer, entry: Entry): boolean {
  const at = resource.revisionOffset;
  const end = versionEnd(resource, entry.bytes);
  if (bytes.length - at !== entry.bytes.length - end) return false;
  return bytes.compare(entry.bytes, end, entry.bytes.length, at, bytes.length) === 0;
}

/** Offset of the quote after the resource version of stored bytes. */
export function versionEnd(resource: Resource, bytes: Buffer): number {
  return bytes.indexOf(0x22, resource.revisionOffset);
}

const metadataMember = '"metadata":'.length;

/** The JSON of the metadata in stored bytes: a view of them, found without parsing. */
export function metadataBytes(resource: Resource, bytes: Buffer): Buffer {
  const start = resource.storedHeadBytes + metadataMember;
  invariant(bytes[start] === openBrace, 'stored bytes have another layout');
  return bytes.subarray(start, objectEnd(bytes, start));
}

const [quote, backslash, openBrace, closeBrace] = [0x22, 0x5c, 0x7b, 0x7d];

/** Offset after the JSON object that begins at `start`. */
function objectEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = stringEnd(bytes, at);
    else if (byte === openBrace) depth += 1;
    else if (byte === closeBrace) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return bytes.length;
}

/** Offset of the quote that ends the string at `start`. */
function stringEnd(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/** The same object under another version, such as the one in which it was deleted. */
export function withRevision(resource: Resource, entry: Entry, revision: Revision): Buffer {
  const { bytes } = entry;
  const text = String(revision);
  const end = versionEnd(resource, bytes);
  if (bytes.toString('latin1', resource.revisionOffset, end) === text) return bytes;
  const result = Buffer.allocUnsafe(resource.revisionOffset + text.length + (bytes.length - end));
  bytes.copy(result, 0, 0, resource.revisionOffset);
  result.write(text, resource.revisionOffset, 'latin1');
  bytes.copy(result, resource.revisionOffset + text.length, end);
  return result;
}
