/**
 * Subresources that show a part of the object as a kind of its own: read as a view, written into
 * the object. A view has no managed fields: an apply that changes a field conflicts unless it is
 * forced, and records no owner.
 */
import { type ApiObject, jsonOf } from '@orch/api';
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
import {
  checkIdentity,
  freshObject,
  objectOf,
  type ResourceStore,
  type UpdateStrategy,
} from '@orch/registry';
import type { Entry } from '@orch/store';
import type { RequestContext } from '../http/request-context.js';
import { sendBody } from '../http/respond.js';
import { contentTypeOf } from '../request/accept.js';
import { decodeBody, type Expected } from '../request/decode-object.js';
import { checkConfig, parseConfig } from '../request/parse-config.js';
import { plainRepresentation } from '../request/representation.js';
import { readSentBody } from '../request/sent-body.js';
import {
  type PatchOptions,
  parseWriteOptions,
  type WriteOptions,
} from '../request/write-options.js';
import { encodeValue } from '../response/encode-object.js';
import { applying, decodeApplied } from './apply.js';
import type { Handler } from './handler.js';
import { decodePatched, patchFunction, readPatch } from './patch.js';
import { readEntry } from './read.js';

export interface View<V extends ApiObject> {
  readonly expected: Expected<V>;
  readonly schemaType: TypeName;
  readonly strategy: UpdateStrategy;
  of(object: ApiObject): V;
  /** Throws for an object that has no such part. */
  checkRead?(object: ApiObject): void;
  /** Changes the object. Throws for a view that cannot be written. */
  write(object: ApiObject, view: V, name: string): void;
  /** The error for a missing object, where it differs from the usual one. */
  notFound?(store: ResourceStore, name: string): Error;
}

/** The metadata that a view shares with its object. */
export function viewMetadata(object: ApiObject): ApiObject['metadata'] {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata ?? {};
  return { name, namespace, uid, resourceVersion, creationTimestamp };
}

function sendView<V extends ApiObject>(context: RequestContext, entry: Entry, view: View<V>): void {
  const representation = plainRepresentation(context);
  const codec = codecFor<V>(view.schemaType);
  const { apiVersion, kind } = view.expected;
  const shown = codec.fromJson(view.of(objectOf(entry)));
  const { format } = representation;
  const body =
    format === 'protobuf'
      ? wrapUnknown(apiVersion, kind, codec.toProtobuf(shown))
      : encodeValue(shown, representation);
  sendBody(context, 200, contentTypeOf(format), body);
}

export function viewHandler<V extends ApiObject>(
  viewOf: (store: ResourceStore) => View<V>,
): Handler {
  return async (context, store) => {
    plainRepresentation(context);
    const view = viewOf(store);
    const { verb } = context.info;
    if (verb === 'get') return getView(context, store, view);
    const change =
      verb === 'patch'
        ? await readPatchedView(context, view)
        : await readReplacedView(context, view);
    return writeView(context, store, view, change);
  };
}

async function getView<V extends ApiObject>(
  context: RequestContext,
  store: ResourceStore,
  view: View<V>,
): Promise<void> {
  const entry = await readEntry(context, store);
  if (!entry) throw absent(context, store, view);
  view.checkRead?.(objectOf(entry));
  sendView(context, entry, view);
}

function absent<V extends ApiObject>(
  { info }: RequestContext,
  store: ResourceStore,
  view: View<V>,
): Error {
  const { served, definition } = store.served;
  return (
    view.notFound?.(store, info.name) ??
    notFound({ group: dialect().group(served.group), resource: definition.plural }, info.name)
  );
}

/** The wanted view of the stored object. */
interface ViewChange<V> {
  readonly options: WriteOptions;
  /** The stored object must have this uid; empty: any. */
  readonly uid: string;
  view(existing: ApiObject): V;
}

async function readReplacedView<V extends ApiObject>(
  context: RequestContext,
  view: View<V>,
): Promise<ViewChange<V>> {
  const { namespace, name } = context.info;
  const { bytes, format } = await readSentBody(context);
  const options = parseWriteOptions(context.query, 'UpdateOptions');
  const wanted = decodeBody(bytes, format, view.expected);
  checkIdentity(wanted, namespace, name);
  return { options, uid: wanted.metadata?.uid ?? '', view: () => wanted };
}

async function readPatchedView<V extends ApiObject>(
  context: RequestContext,
  view: View<V>,
): Promise<ViewChange<V>> {
  const { type, text, options } = await readPatch(context);
  if (type === 'apply') return appliedView(context, view, text, options);
  const patch = patchFunction(type, text);
  return {
    options,
    uid: '',
    view(existing) {
      const document = JSON.parse(JSON.stringify(view.of(existing))) as JsonObject;
      const wanted = decodePatched(patch(document, view.schemaType), view.expected);
      return wanted;
    },
  };
}

function appliedView<V extends ApiObject>(
  context: RequestContext,
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
    options,
    uid: '',
    view(existing) {
      const live = JSON.parse(JSON.stringify(view.of(existing))) as JsonObject;
      const { object } = applying(() =>
        applyConfiguration({
          type,
          apiVersion,
          manager: options.fieldManager,
          now: formatTime(context.nowMs),
          live,
          config,
          force: options.force,
        }),
      );
      return decodeApplied(object, { codec });
    },
  };
}

async function writeView<V extends ApiObject>(
  context: RequestContext,
  store: ResourceStore,
  view: View<V>,
  change: ViewChange<V>,
): Promise<void> {
  const { apiVersion, kind, codec } = view.expected;
  const { name } = context.info;
  let attempt: { existing: ApiObject; wanted: V; object: ApiObject } | undefined;
  const write = (object: ApiObject, wanted: V) => {
    view.write(object, wanted, name);
    const { resourceVersion } = wanted.metadata ?? {};
    if (resourceVersion) object.metadata!.resourceVersion = resourceVersion;
  };
  const produce = (existing: ApiObject, entry: Entry) => {
    const wanted = change.view(existing);
    const object = freshObject(entry);
    write(object, wanted);
    attempt = { existing, wanted, object };
    return object;
  };
  const jsonOfView = (shown: V) => jsonOf(codec.fromJson(shown));
  const document = () => jsonOfView(attempt!.wanted);
  const oldDocument = () => jsonOfView(view.of(attempt!.existing));
  const accept = (changed: JsonObject) => {
    const { object, existing } = attempt!;
    const wanted = codec.fromJson(changed);
    attempt = { existing, wanted, object };
    write(object, wanted);
  };
  context.setOptions(change.options);
  try {
    const review = { apiVersion, kind, document, oldDocument, accept };
    const update = { strategy: view.strategy, produce, uid: change.uid, review };
    sendView(context, await store.update(context.key, update, context), view);
  } catch (error) {
    throw isStatus(error, 'NotFound') ? absent(context, store, view) : error;
  }
}
