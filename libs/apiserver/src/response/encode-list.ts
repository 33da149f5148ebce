/**
 * Lists in the representation that a request selects. Lists of objects as JSON or protobuf are
 * gathered from the entries' own bytes; other forms are built from parsed objects, in slices that
 * yield to the event loop.
 */
import type { ApiObject } from '@orch/api';
import { codecFor } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ListResponse, ServedResource } from '@orch/registry';
import { objectOf } from '@orch/registry';
import type { Entry } from '@orch/store';
import { gatherBlockBytes } from '../limits.js';
import type { ViewOptions } from '../request/representation.js';
import {
  encodeValue,
  objectJson,
  objectMessage,
  partialJson,
  partialObjectMessage,
} from './encode-object.js';
import type { Gathered } from './gather.js';
import { lengthDelimited, protobufField, varintBytes, writeVarint } from './protobuf-fields.js';
import { inSlices } from './sliced.js';
import { partialObject, type TableMetadata, tableOf, tableRow } from './table.js';

const comma = 0x2c;
const openingBrace = 0x7b;
const closing = Buffer.from(']}');
const nothing = Buffer.alloc(0);

/** Metadata views omit the count of remaining items. */
function listMetadata(list: ListResponse, isMetadataView: boolean): TableMetadata {
  const counted = !isMetadataView && list.remainingCount !== undefined;
  return {
    resourceVersion: String(list.revision),
    ...(list.continueToken !== '' && { continue: list.continueToken }),
    ...(counted && { remainingItemCount: list.remainingCount }),
  };
}

function jsonListHead({ listHead, definition }: ServedResource, list: ListResponse): Buffer {
  const { continueToken } = list;
  // Lists of custom resources say when there is no more.
  const token = continueToken === '' && !definition.custom ? '' : `,"continue":"${continueToken}"`;
  const remaining =
    list.remainingCount === undefined ? '' : `,"remainingItemCount":${list.remainingCount}`;
  return Buffer.from(`${listHead}${list.revision}"${token}${remaining}},"items":[`);
}

/** List items have no kind and apiVersion, except custom resources. */
function gatherJson(served: ServedResource, list: ListResponse): Gathered {
  const { entries } = list;
  const items = served.sameShape ? entries : entries.map((entry) => converted(served, entry));
  const isCustom = served.definition.custom !== undefined;
  const headBytes = served.sameShape ? served.resource.storedHeadBytes : served.head.length;
  const itemFrom = isCustom ? 0 : headBytes;
  const joint = isCustom ? 1 : 2;
  const head = jsonListHead(served, list);
  let totalBytes = head.length + closing.length + Math.max(0, items.length * joint - 1);
  for (const item of items) totalBytes += item.bytes.length - itemFrom;
  return {
    head,
    itemCount: items.length,
    itemHeadBytesMax: joint,
    writeItemHead(index, block, at) {
      let next = at;
      if (index > 0) block[next++] = comma;
      if (!isCustom) block[next++] = openingBrace;
      return next;
    },
    item: (index) => items[index]!.bytes,
    itemFrom,
    tail: closing,
    totalBytes,
    isTimeless: true,
  };
}

function converted(served: ServedResource, entry: Entry): { readonly bytes: Buffer } {
  return { bytes: objectJson(served, entry) };
}

/**
 * `list` with `blocks` of items as the value of its last field, an empty list; a long list is never
 * one string.
 */
function gatherValues(list: object, blocks: readonly Buffer[]): Gathered {
  const empty = JSON.stringify(list);
  const head = Buffer.from(empty.slice(0, -closing.length));
  let totalBytes = head.length + closing.length + Math.max(0, blocks.length - 1);
  for (const block of blocks) totalBytes += block.length;
  return {
    head,
    itemCount: blocks.length,
    itemHeadBytesMax: 1,
    writeItemHead(index, block, at) {
      if (index > 0) block[at] = comma;
      return index > 0 ? at + 1 : at;
    },
    item: (index) => blocks[index]!,
    itemFrom: 0,
    tail: closing,
    totalBytes,
  };
}

const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
/** Empty content encoding and content type, which the envelope always carries. */
const envelopeTail = Buffer.from([0x1a, 0x00, 0x22, 0x00]);
/** The envelope and the fields before the items; `messageBytes`: size of the whole list message. */
function protobufHead(
  apiVersion: string,
  kind: string,
  metadata: Buffer,
  itemsBytes: number,
): Buffer {
  const typeMeta = Buffer.concat([
    protobufField(1, Buffer.from(apiVersion)),
    protobufField(2, Buffer.from(kind)),
  ]);
  const messageBytes = metadata.length + itemsBytes;
  const rawHead = Buffer.alloc(1 + varintBytes(messageBytes));
  rawHead[0] = lengthDelimited(2);
  writeVarint(messageBytes, rawHead, 1);
  return Buffer.concat([magic, protobufField(1, typeMeta), rawHead, metadata]);
}

function gatherProtobuf(
  apiVersion: string,
  kind: string,
  list: ListResponse,
  messages: readonly Buffer[],
): Gathered {
  const metadata = protobufField(
    1,
    codecFor<TableMetadata>('meta/v1.ListMeta').toProtobuf(
      listMetadata(list, kind === 'PartialObjectMetadataList'),
    ),
  );
  let itemsBytes = 0;
  for (const message of messages) {
    itemsBytes += 1 + varintBytes(message.length) + message.length;
  }
  const head = protobufHead(apiVersion, kind, metadata, itemsBytes);
  return {
    head,
    itemCount: messages.length,
    itemHeadBytesMax: 10,
    writeItemHead(index, block, at) {
      block[at] = lengthDelimited(2);
      return writeVarint(messages[index]!.length, block, at + 1);
    },
    item: (index) => messages[index]!,
    itemFrom: 0,
    tail: envelopeTail,
    totalBytes: head.length + itemsBytes + envelopeTail.length,
    isTimeless: true,
  };
}

function whole(body: Buffer): Gathered {
  return {
    head: nothing,
    itemCount: 1,
    itemHeadBytesMax: 0,
    writeItemHead: (_index, _block, at) => at,
    item: () => body,
    itemFrom: 0,
    tail: nothing,
    totalBytes: body.length,
  };
}

async function made<T>(entries: readonly Entry[], make: (entry: Entry) => T): Promise<T[]> {
  const results: T[] = [];
  const take = (entry: Entry) => void results.push(make(entry));
  await inSlices(entries, take, () => performance.now());
  return results;
}

/**
 * The texts of the entries with commas between, in blocks: each new buffer of some KB can make the
 * garbage collector work for several milliseconds, so that a buffer for each entry would do so for
 * the whole response.
 */
async function blocksOf(
  entries: readonly Entry[],
  textOf: (entry: Entry) => string,
): Promise<Buffer[]> {
  const blocks: Buffer[] = [];
  let texts: string[] = [];
  let length = 0;
  const endBlock = () => {
    if (texts.length > 0) blocks.push(Buffer.from(texts.join(',')));
    texts = [];
    length = 0;
  };
  const take = (entry: Entry) => {
    const text = textOf(entry);
    texts.push(text);
    length += text.length;
    if (length >= gatherBlockBytes) endBlock();
  };
  await inSlices(entries, take, () => performance.now());
  endBlock();
  return blocks;
}

export async function encodeList(
  served: ServedResource,
  list: ListResponse,
  options: ViewOptions,
): Promise<Gathered> {
  const { format, view, viewVersion, pretty } = options.representation;
  const { entries } = list;
  if (view === 'object') {
    if (format === 'json' && !pretty) return gatherJson(served, list);
    if (format === 'protobuf') {
      const messages = await made(entries, (entry) => objectMessage(served, entry));
      return gatherProtobuf(served.apiVersion, served.listKind, list, messages);
    }
  }
  const metadata = listMetadata(list, view === 'PartialObjectMetadataList');
  const metaVersion = `${dialect().metaGroup}/${viewVersion}`;
  const isCompact = format === 'json' && !pretty;
  if (view === 'Table') {
    const rowOf = (entry: Entry) =>
      tableRow(served, entry, viewVersion, options.include, options.nowMs);
    if (isCompact) {
      const rows = await blocksOf(entries, (entry) => JSON.stringify(rowOf(entry)));
      return gatherValues(tableOf(served, viewVersion, metadata, [], true), rows);
    }
    const rows = await made(entries, rowOf);
    const table = tableOf(served, viewVersion, metadata, rows, true);
    return whole(encodeValue(table, options.representation));
  }
  if (view === 'PartialObjectMetadataList' && format === 'protobuf') {
    const messages = await made(entries, (entry) => partialObjectMessage(objectOf(entry)));
    return gatherProtobuf(metaVersion, view, list, messages);
  }
  if (view === 'PartialObjectMetadataList' && isCompact && entries.length > 0) {
    const items = await blocksOf(entries, (entry) =>
      partialJson(served.resource, entry.bytes, viewVersion).join(''),
    );
    return gatherValues({ kind: view, apiVersion: metaVersion, metadata, items: [] }, items);
  }
  const saysEnd = view === 'object' && served.definition.custom && list.continueToken === '';
  const listed = saysEnd ? { ...metadata, continue: '' } : metadata;
  const items = await made(entries, (entry) =>
    view === 'object'
      ? listedObject(served, objectOf(entry))
      : partialObject(objectOf(entry), viewVersion),
  );
  const value =
    view === 'object'
      ? { kind: served.listKind, apiVersion: served.apiVersion, metadata: listed, items }
      : { kind: view, apiVersion: metaVersion, metadata, items: items.length > 0 ? items : null };
  return whole(encodeValue(value, options.representation));
}

function listedObject(served: ServedResource, stored: ApiObject): object {
  const object = served.fromStored(stored);
  if (served.definition.custom) return object;
  return { ...object, kind: undefined, apiVersion: undefined };
}
