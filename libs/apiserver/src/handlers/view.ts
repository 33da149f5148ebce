/**
 * Subresources that are a part of the object as a kind of its own: read as a view of it, written into it.
 * A view has no managed fields: whoever applies one conflicts with what is there unless it is forced, and
 * no owner is noted.
 */
import type { ApiObject } from '@orch/api';
import {
  applyConfiguration,
  codecFor,
  formatTime,
  isStatus,
  type JsonObject,
  notFound,
  shapeOf,
  type TypeName,
  type VersionedType,
  wrapUnknown,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Entry } from '@orch/store';
import { freshObject, objectOf } from '../registry/entry-view.js';
import { checkIdentity } from '../registry/object-metadata.js';
import { type UpdateStrategy, updateObject } from '../registry/update.js';
import { decodeBody, type Expected } from '../request/decode-object.js';
import { bodyFormat, contentTypeOf } from '../request/media-types.js';
import { checkConfig, parseConfig } from '../request/parse-config.js';
import { readBody } from '../request/read-body.js';
import { type PatchOptions, parseWriteOptions } from '../request/write-options.js';
import { encodeValue } from '../response/encode-object.js';
import { sendBody } from '../response/exchange.js';
import { applying, decodeApplied } from './apply.js';
import { type Call, plainRepresentation, targetOf, writeContext } from './call.js';
import { decodePatched, patchFunction, readPatch } from './patch.js';
import { readEntry } from './read.js';

export interface View<V extends ApiObject> {
  readonly expected: Expected;
  readonly schemaType: TypeName;
  readonly strategy: UpdateStrategy;
  of(object: ApiObject): V;
  /** Throws for an object that has nothing to show. */
  checkRead?(object: ApiObject): void;
  /** Changes the object. Throws for a view that cannot be written. */
  write(object: ApiObject, view: V, call: Call): void;
  /** For an object that is not there, where that is said in other words. */
  notFound?(call: Call): Error;
}

/** The metadata that a view shares with its object. */
export function viewMetadata(object: ApiObject): ApiObject['metadata'] {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {};
  return { name, namespace, uid, resourceVersion, creationTimestamp };
}

function sendView<V extends ApiObject>(call: Call, entry: Entry, view: View<V>): void {
  const representation = plainRepresentation(call);
  const codec = codecFor<V>(view.schemaType);
  const { apiVersion, kind } = view.expected;
  const shown = codec.fromJson(view.of(objectOf(entry)));
  const { format } = representation;
  const body =
    format === 'protobuf'
      ? wrapUnknown(apiVersion, kind, codec.toProtobuf(shown))
      : encodeValue(shown, representation);
  sendBody(call.exchange, 200, contentTypeOf(format), body);
}

export function viewHandler<V extends ApiObject>(
  viewOf: (call: Call) => View<V>,
): (call: Call) => Promise<void> {
  return async (call) => {
    plainRepresentation(call);
    const view = viewOf(call);
    if (call.info.verb === 'get') return getView(call, view);
    const change =
      call.info.verb === 'patch' ? await patchedBy(call, view) : await sent(call, view);
    return writeView(call, view, change);
  };
}

async function getView<V extends ApiObject>(call: Call, view: View<V>): Promise<void> {
  const entry = await readEntry(call);
  if (!entry) throw absent(call, view);
  view.checkRead?.(objectOf(entry));
  sendView(call, entry, view);
}

function absent<V extends ApiObject>(call: Call, view: View<V>): Error {
  const { served, info } = call;
  const { group, plural } = { group: served.served.group, plural: served.definition.plural };
  return (
    view.notFound?.(call) ??
    notFound({ group: dialect().group(group), resource: plural }, info.name)
  );
}

/** What to make of the view of the stored object. */
interface ViewChange<V> {
  readonly dryRun: boolean;
  /** The stored object must have this uid; empty: any. */
  readonly uid: string;
  view(existing: ApiObject): V;
}

async function sent<V extends ApiObject>(call: Call, view: View<V>): Promise<ViewChange<V>> {
  const format = bodyFormat(call.exchange.request.headers['content-type']);
  const body = await readBody(call.exchange);
  const { dryRun } = parseWriteOptions(call.query, 'UpdateOptions');
  const wanted = decodeBody(body, format, view.expected) as V;
  checkIdentity(call.served, wanted, call.info.namespace, call.info.name);
  return { dryRun, uid: wanted.metadata?.uid ?? '', view: () => wanted };
}

async function patchedBy<V extends ApiObject>(call: Call, view: View<V>): Promise<ViewChange<V>> {
  const { type, text, options } = await readPatch(call);
  if (type === 'apply') return appliedBy(call, view, text, options);
  const patch = patchFunction(type, text);
  return {
    dryRun: options.dryRun,
    uid: '',
    view(existing) {
      const document = JSON.parse(JSON.stringify(view.of(existing))) as JsonObject;
      const wanted = decodePatched(patch(document, view.schemaType), view.expected) as V;
      return withoutReadVersion(wanted, existing);
    },
  };
}

function appliedBy<V extends ApiObject>(
  call: Call,
  view: View<V>,
  text: string,
  options: PatchOptions,
): ViewChange<V> {
  const { schemaType } = view;
  const { apiVersion, kind, codec } = view.expected;
  const config = parseConfig(text);
  checkConfig(config, { apiVersion, kind, shape: shapeOf(schemaType) });
  const type: VersionedType = {
    shape: () => shapeOf(schemaType),
    convert: (object) => object,
    ignored: () => undefined,
    empty: () => codecFor<JsonObject>(schemaType).fromJson({}),
  };
  return {
    dryRun: options.dryRun,
    uid: '',
    view(existing) {
      const live = JSON.parse(JSON.stringify(view.of(existing))) as JsonObject;
      const { object } = applying(() =>
        applyConfiguration({
          type,
          apiVersion,
          manager: options.fieldManager,
          now: formatTime(call.parts.clock.nowMs()),
          live,
          config,
          force: options.force,
        }),
      );
      return withoutReadVersion(decodeApplied(object, { codec }) as V, existing);
    },
  };
}

/** The version shown is the one read; only one that the patch changed is a condition. */
function withoutReadVersion<V extends ApiObject>(wanted: V, existing: ApiObject): V {
  if (wanted.metadata?.resourceVersion === existing.metadata?.resourceVersion) {
    delete wanted.metadata?.resourceVersion;
  }
  return wanted;
}

async function writeView<V extends ApiObject>(
  call: Call,
  view: View<V>,
  change: ViewChange<V>,
): Promise<void> {
  const produce = (existing: ApiObject, entry: Entry) => {
    const wanted = change.view(existing);
    const object = freshObject(entry);
    view.write(object, wanted, call);
    const { resourceVersion } = wanted.metadata ?? {};
    if (resourceVersion) object.metadata!.resourceVersion = resourceVersion;
    return object;
  };
  try {
    const { strategy } = view;
    const entry = await updateObject(
      call.parts,
      targetOf(call),
      { strategy, produce, uid: change.uid },
      writeContext(call, change.dryRun),
    );
    sendView(call, entry, view);
  } catch (error) {
    throw isStatus(error, 'NotFound') ? absent(call, view) : error;
  }
}
