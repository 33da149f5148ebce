/**
 * Server-side apply: merges the client's configuration into the stored object, or creates it. Field
 * ownership is decided here; the write is then an update or a create like any other, without
 * ownership tracking of its own.
 */
import { type ApiObject, dropDisabledFields } from '@orch/api';
import {
  ApplyConflictError,
  type ApplyResult,
  badRequest,
  conflict,
  conflictStatus,
  deepCopy,
  isStatus,
  type JsonObject,
  SchemaError,
  TypedError,
} from '@orch/apimachinery';
import type { Features } from '@orch/component';
import {
  applyTo,
  checkIdentity,
  metadataOf,
  type ResourceStore,
  type ServedResource,
  toStoredShape,
  type UpdateStrategy,
} from '@orch/registry';
import type { Entry } from '@orch/store';
import type { RequestContext } from '../http/request-context.js';
import { applyAttemptsMax } from '../limits.js';
import { type Expected, expectedOf } from '../request/decode-object.js';
import { checkConfig, parseConfig } from '../request/parse-config.js';
import type { ViewOptions } from '../request/representation.js';
import { requireCreate } from '../request/require-create.js';
import type { PatchOptions } from '../request/write-options.js';
import { sendObject } from '../response/send-object.js';

/** `view`: how the client wants the object. */
export async function applyPatch(
  context: RequestContext,
  store: ResourceStore,
  strategy: UpdateStrategy,
  request: { readonly text: string; readonly options: PatchOptions; readonly view: ViewOptions },
): Promise<void> {
  const { served } = store;
  const { options, view } = request;
  let config: JsonObject | undefined;
  /** The text is read at first use: whether the object exists is reported first. */
  const applied = (existing: ApiObject | undefined) => {
    config ??= readConfig(served, request.text);
    const { features } = context.options;
    const enabled = withoutDisabledFields(served, existing, config, features);
    return appliedObject(served, strategy, existing, enabled, options, context.nowMs);
  };
  const mayCreate = strategy.subresource === '';
  for (let attempt = 1; ; attempt += 1) {
    try {
      const update = { strategy, produce: applied, uid: '' };
      const entry = await store.update(context.key, update, context);
      return sendObject(context, served, 200, entry, view);
    } catch (error) {
      if (!mayCreate || !isStatus(error, 'NotFound')) throw error;
    }
    await requireCreate(context);
    const entry = await create(context, store, applied(undefined));
    // Undefined: another writer created the object first, so that it can be updated now.
    if (entry !== undefined) return sendObject(context, served, 201, entry, view);
    if (attempt === applyAttemptsMax) throw conflict(served.groupResource, context.info.name);
  }
}

function readConfig(served: ServedResource, text: string): JsonObject {
  const config = parseConfig(text);
  const { apiVersion, kind, shape, definition } = served;
  checkConfig(config, { apiVersion, kind, shape, isCustom: definition.custom !== undefined });
  return config;
}

/** Fields of disabled features have no owner. */
function withoutDisabledFields(
  { definition }: ServedResource,
  existing: ApiObject | undefined,
  config: JsonObject,
  features: Features,
): JsonObject {
  const { gatedFields = [] } = definition;
  if (gatedFields.length === 0) return config;
  const enabled = deepCopy(config);
  dropDisabledFields(enabled, existing, gatedFields, features);
  return enabled;
}

function appliedObject(
  served: ServedResource,
  { resetFields }: UpdateStrategy,
  existing: ApiObject | undefined,
  config: JsonObject,
  { fieldManager: manager, force }: PatchOptions,
  nowMs: number,
): ApiObject {
  const result = applying(() =>
    applyTo(served, existing, { config, manager, force, nowMs, resetFields }),
  );
  const object = toStoredShape(served, decodeApplied(result.object, expectedOf(served)));
  if (result.managedFields) metadataOf(object).managedFields = result.managedFields;
  return object;
}

/** Throws 409 with the conflicts, and 400 for stored objects that cannot be merged into. */
export function applying(apply: () => ApplyResult): ApplyResult {
  try {
    return apply();
  } catch (error) {
    if (error instanceof ApplyConflictError) throw conflictStatus(error.conflicts);
    if (!(error instanceof TypedError)) throw error;
    throw badRequest(`failed to create typed live object: ${error.message}`);
  }
}

/** The merged document as an object. Throws 400. */
export function decodeApplied<T extends object>(
  merged: JsonObject,
  { codec }: Pick<Expected<T>, 'codec'>,
): T {
  try {
    // The document may share values with the configuration, which the next attempt needs unchanged.
    return codec.fromJson(deepCopy(merged));
  } catch (error) {
    if (error instanceof SchemaError) throw badRequest(error.message);
    throw error;
  }
}

/** Undefined: another writer was faster. */
async function create(
  context: RequestContext,
  store: ResourceStore,
  object: ApiObject,
): Promise<Entry | undefined> {
  const { namespace, name } = context.info;
  const { served } = store;
  const { uid } = metadataOf(object);
  if (uid) {
    throw conflict(
      served.groupResource,
      name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  }
  checkIdentity(object, namespace, name);
  delete object.metadata?.resourceVersion;
  try {
    return await store.create(namespace, object, context);
  } catch (error) {
    if (isStatus(error, 'AlreadyExists')) return undefined;
    throw error;
  }
}
