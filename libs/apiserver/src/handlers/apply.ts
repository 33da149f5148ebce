/**
 * Server-side apply: the client's configuration is merged into the stored object, or makes it. Who owns
 * what is settled here; the rest is an update or a creation like any other.
 */
import type { ApiObject } from '@orch/api';
import {
  type Applied,
  ApplyConflictError,
  badRequest,
  conflict,
  conflictStatus,
  deepCopy,
  isStatus,
  type JsonObject,
  SchemaError,
  TypedError,
} from '@orch/apimachinery';
import type { Entry } from '@orch/store';
import { applyAttemptsMax } from '../limits.js';
import { createObject } from '../registry/create.js';
import { applyTo } from '../registry/field-ownership.js';
import { checkIdentity, metadataOf } from '../registry/object-metadata.js';
import { type UpdateStrategy, updateObject } from '../registry/update.js';
import { expectedOf, toStoredShape } from '../request/decode-object.js';
import { checkConfig, parseConfig } from '../request/parse-config.js';
import type { PatchOptions } from '../request/write-options.js';
import type { ViewOptions } from '../response/encode-object.js';
import { type Call, sendObject, targetOf, writeContext } from './call.js';

/** `view`: how the answer shows the object. */
export async function applyPatch(
  call: Call,
  strategy: UpdateStrategy,
  request: { readonly text: string; readonly options: PatchOptions; readonly view: ViewOptions },
): Promise<void> {
  const { parts, served } = call;
  const { options, view } = request;
  const context = writeContext(call, options.dryRun);
  let config: JsonObject | undefined;
  /** Read at first use: whether there is something to apply to comes first. */
  const applied = (existing: ApiObject | undefined) => {
    config ??= readConfig(call, request.text);
    return appliedObject(call, strategy, existing, config, options);
  };
  const mayCreate = strategy.subresource === '';
  for (let attempt = 1; ; attempt += 1) {
    try {
      const update = { strategy, produce: applied, uid: '' };
      const entry = await updateObject(parts, targetOf(call), update, context);
      return sendObject(call, 200, entry, view);
    } catch (error) {
      if (!mayCreate || !isStatus(error, 'NotFound')) throw error;
    }
    const entry = await create(call, applied(undefined), options);
    // Somebody made it in the meantime: it is there to be changed now.
    if (entry !== undefined) return sendObject(call, 201, entry, view);
    if (attempt === applyAttemptsMax) throw conflict(served.groupResource, call.info.name);
  }
}

function readConfig({ served }: Call, text: string): JsonObject {
  const config = parseConfig(text);
  const { apiVersion, kind, shape, definition } = served;
  checkConfig(config, { apiVersion, kind, shape, isCustom: definition.custom !== undefined });
  return config;
}

function appliedObject(
  call: Call,
  strategy: UpdateStrategy,
  existing: ApiObject | undefined,
  config: JsonObject,
  options: PatchOptions,
): ApiObject {
  const { served, parts } = call;
  const result = applying(() =>
    applyTo(served, existing, {
      config,
      manager: options.fieldManager,
      force: options.force,
      nowMs: parts.clock.nowMs(),
      resetFields: strategy.resetFields,
    }),
  );
  const object = toStoredShape(served, decodeApplied(result.object, expectedOf(served)));
  if (result.managedFields) metadataOf(object).managedFields = result.managedFields;
  return object;
}

/** Throws 409 with the conflicts, and 400 for stored objects that cannot be merged into. */
export function applying(apply: () => Applied): Applied {
  try {
    return apply();
  } catch (error) {
    if (error instanceof ApplyConflictError) throw conflictStatus(error.conflicts);
    if (!(error instanceof TypedError)) throw error;
    throw badRequest(`failed to create typed live object: ${error.message}`);
  }
}

/** The merged document as an object. Throws 400. */
export function decodeApplied(
  merged: JsonObject,
  { codec }: Pick<ReturnType<typeof expectedOf>, 'codec'>,
): ApiObject {
  try {
    // Values may be shared with the configuration, which another attempt needs as it is.
    return codec.fromJson(deepCopy(merged));
  } catch (error) {
    if (error instanceof SchemaError) throw badRequest(error.message);
    throw error;
  }
}

/** Undefined: somebody else was faster. */
async function create(
  call: Call,
  object: ApiObject,
  options: PatchOptions,
): Promise<Entry | undefined> {
  const { parts, served, info } = call;
  const { uid } = metadataOf(object);
  if (uid) {
    throw conflict(
      served.groupResource,
      info.name,
      `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  }
  checkIdentity(served, object, info.namespace, info.name);
  delete object.metadata?.resourceVersion;
  const context = writeContext(call, options.dryRun);
  try {
    return await createObject(parts, served, info.namespace, object, context);
  } catch (error) {
    if (isStatus(error, 'AlreadyExists')) return undefined;
    throw error;
  }
}
