/**
 * Watch events as bytes in the representation of a watcher. A form that several watchers share is
 * encoded once and cached on the event. The object of a deletion is its last state under the
 * deletion's version.
 */

import type { ApiObject } from '@orch/api';
import { codecFor, type Status, wrapUnknown } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { ServedResource } from '@orch/registry';
import { objectOf, withRevision } from '@orch/registry';
import type { Entry, Revision, WatchEvent } from '@orch/store';
import type { Representation } from '../request/accept.js';
import type { IncludeObject } from '../request/representation.js';
import {
  jsonBytes,
  objectMessage,
  partialJson,
  partialObjectMessage,
} from '../response/encode-object.js';
import { protobufField } from '../response/protobuf-fields.js';
import { partialObject, rowOf, tableOf } from '../response/table.js';
import type { BookmarkRounds } from './bookmark-rounds.js';
import type { EventFraming } from './watch-channel.js';
import { chunkFrame } from './watch-stream.js';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

const heads: Record<string, Buffer> = {};
for (const type of ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']) {
  heads[type] = Buffer.from(`{"type":"${type}","object":`);
}
const jsonTail = Buffer.from('}\n');

export interface EventEncoderOptions {
  readonly served: ServedResource;
  readonly representation: Representation;
  readonly include: IncludeObject;
  readonly framing: EventFraming;
  readonly nowMs: () => number;
  readonly bookmarks: BookmarkRounds;
}

export class EventEncoder {
  private readonly cacheKeys: Record<EventType, string>;
  private readonly bookmarkKey: string;
  private columnsSent = false;

  constructor(private readonly options: EventEncoderOptions) {
    const { served, representation, include, framing } = options;
    const { format, view, viewVersion } = representation;
    const key = `${served.apiVersion} ${format} ${view} ${viewVersion} ${include} ${framing} `;
    this.cacheKeys = {
      ADDED: `${key}ADDED`,
      MODIFIED: `${key}MODIFIED`,
      DELETED: `${key}DELETED`,
    };
    this.bookmarkKey = `${served.kind} ${key}`;
  }

  /** `entry`: the state to show, under the event's revision. */
  event(event: WatchEvent, type: EventType, entry: Entry): Buffer {
    // A table's first event also carries the columns, so it is this watcher's own.
    if (this.options.representation.view === 'Table') {
      return this.encode(type, entry, event.revision);
    }
    const key = this.cacheKeys[type];
    const cache = cacheOf(event);
    let bytes = cache.get(key);
    if (bytes === undefined) {
      bytes = this.encode(type, entry, event.revision);
      cache.set(key, bytes);
    }
    return bytes;
  }

  /** The synthetic event of an object that exists when the watch starts. */
  initial(entry: Entry): Buffer {
    return this.encode('ADDED', entry, entry.revision);
  }

  bookmark(revision: Revision): Buffer {
    const { bookmarks } = this.options;
    return bookmarks.bytes(this.bookmarkKey, revision, () => this.encodeBookmark(revision));
  }

  private encodeBookmark(revision: Revision): Buffer {
    const { served, representation } = this.options;
    const object = {
      kind: served.kind,
      apiVersion: served.apiVersion,
      metadata: { resourceVersion: String(revision) },
    };
    const { view, viewVersion, format } = representation;
    if (format === 'protobuf') return this.frame(this.protobuf('BOOKMARK', object, served));
    if (view === 'object') return this.json('BOOKMARK', jsonBytes(object, false));
    const bookmark =
      view === 'Table'
        ? tableOf(served, viewVersion, { resourceVersion: String(revision) }, [], false)
        : partialObject(object, viewVersion);
    return this.json('BOOKMARK', jsonBytes(bookmark, false));
  }

  error(status: Status): Buffer {
    if (this.options.representation.format !== 'protobuf') {
      return this.json('ERROR', jsonBytes(status, false));
    }
    const raw = codecFor<Status>('meta/v1.Status').toProtobuf(status);
    return this.frame(watchMessage('ERROR', wrapUnknown('v1', 'Status', raw)));
  }

  private encode(type: EventType, entry: Entry, revision: Revision): Buffer {
    const { served, representation } = this.options;
    const { view, format } = representation;
    if (view !== 'object') return this.encodeView(type, entry, revision);
    if (format === 'json' && served.sameShape) return this.encodeStored(type, entry, revision);
    const object = served.fromStored(objectAt(entry, revision));
    if (format === 'json') return this.json(type, jsonBytes(object, false));
    if (entry.revision === revision && type !== 'DELETED') {
      return this.frame(
        watchMessage(
          type,
          wrapUnknown(served.apiVersion, served.kind, objectMessage(served, entry)),
        ),
      );
    }
    return this.frame(this.protobuf(type, object, served));
  }

  private encodeStored(type: EventType, entry: Entry, revision: Revision): Buffer {
    const { served } = this.options;
    const bytes = withRevision(served.resource, entry, revision);
    if (served.isStored) return this.json(type, bytes);
    return this.json(type, served.head, bytes.subarray(served.resource.storedHeadBytes));
  }

  private encodeView(type: EventType, entry: Entry, revision: Revision): Buffer {
    const { served, representation, include, nowMs } = this.options;
    const { view, viewVersion, format } = representation;
    if (view !== 'Table' && format !== 'protobuf') {
      const bytes = withRevision(served.resource, entry, revision);
      return this.json(type, ...partialJson(served.resource, bytes, viewVersion));
    }
    const object = objectAt(entry, revision);
    if (view === 'Table') {
      const row = rowOf(served, object, viewVersion, include, nowMs());
      const metadata = { resourceVersion: String(revision) };
      const table = tableOf(served, viewVersion, metadata, [row], !this.columnsSent);
      this.columnsSent = true;
      return this.json(type, jsonBytes(table, false));
    }
    const apiVersion = `${dialect().metaGroup}/${viewVersion}`;
    const envelope = wrapUnknown(apiVersion, 'PartialObjectMetadata', partialObjectMessage(object));
    return this.frame(watchMessage(type, envelope));
  }

  private protobuf(type: string, object: ApiObject, served: ServedResource): Buffer {
    const raw = served.codec.toProtobuf(object);
    return watchMessage(type, wrapUnknown(served.apiVersion, served.kind, raw));
  }

  private json(type: string, ...object: Buffer[]): Buffer {
    const parts = [heads[type]!, ...object, jsonTail];
    return this.options.framing === 'chunk' ? chunkFrame(parts) : Buffer.concat(parts);
  }

  /** A protobuf message has a length prefix, unless it is sent as a WebSocket message. */
  private frame(message: Buffer): Buffer {
    const { framing } = this.options;
    if (framing === 'message') return message;
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32BE(message.length, 0);
    const parts = [length, message];
    return framing === 'chunk' ? chunkFrame(parts) : Buffer.concat(parts);
  }
}

function cacheOf(event: WatchEvent): Map<string, Buffer> {
  if (event.derived instanceof Map) return event.derived;
  const cache = new Map<string, Buffer>();
  event.derived = cache;
  return cache;
}

function objectAt(entry: Entry, revision: Revision): ApiObject {
  const object = objectOf(entry);
  const version = String(revision);
  if (object.metadata?.resourceVersion === version) return object;
  return { ...object, metadata: { ...object.metadata, resourceVersion: version } };
}

/** A watch message: the type, and the enveloped object in a message of its own. */
function watchMessage(type: string, envelope: Buffer): Buffer {
  const extension = protobufField(1, envelope);
  return Buffer.concat([protobufField(1, Buffer.from(type)), protobufField(2, extension)]);
}
