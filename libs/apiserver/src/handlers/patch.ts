/**
 * Patches: the stored object in the version the client speaks, changed by a JSON patch, merge patch
 * or strategic merge patch, then decoded, defaulted and written like a replace. A patch that sets a
 * resource version takes effect on that version only. Server-side apply is in `apply.ts`.
 */
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  fieldError,
  invalid,
  isJsonObject,
  type Json,
  type JsonObject,
  mergeSchemaOf,
  SchemaError,
} from '@orch/apimachinery';
import { objectStrategy, type ResourceStore, type UpdateStrategy } from '@orch/registry';
import type { RequestContext } from '../http/request-context.js';
import { type PatchType, patchType } from '../request/body-format.js';
import {
  checkCustomType,
  checkFields,
  type Expected,
  expectedOf,
} from '../request/decode-object.js';
import { fieldCheck } from '../request/field-validation.js';
import { readBody } from '../request/read-body.js';
import { singleView } from '../request/representation.js';
import { type PatchOptions, parsePatchOptions } from '../request/write-options.js';
import { sendObject } from '../response/send-object.js';
import { applyPatch } from './apply.js';

export function handlePatch(context: RequestContext, store: ResourceStore): Promise<void> {
  return patchPart(context, store, objectStrategy(store.served));
}

/** Patches the object, or the part of it that `strategy` writes. */
export async function patchPart(
  context: RequestContext,
  store: ResourceStore,
  strategy: UpdateStrategy,
): Promise<void> {
  const { served } = store;
  const view = singleView(context);
  const { type, text, options } = await readPatch(context);
  context.setOptions(options);
  if (type === 'apply') return applyPatch(context, store, strategy, { text, options, view });
  const expected = expectedOf(served);
  const check = fieldCheck(context);
  const decode = (patched: Json) => {
    checkFields(patched, expected, check);
    return decodePatched(patched, expected);
  };
  context.trackOwnership(options.fieldManager);
  const patch = { strategy, apply: patchFunction(type, text), decode };
  const entry = await store.patch(context.key, patch, context);
  sendObject(context, served, 200, entry, view);
}

/** Applies the patch to a document of the type named by `schema`. Throws StatusError. */
export type PatchFunction = (document: JsonObject, schema: string) => Json;

export interface PatchRequest {
  readonly type: PatchType;
  readonly text: string;
  readonly options: PatchOptions;
}

export async function readPatch(context: RequestContext): Promise<PatchRequest> {
  const { request, query, served, features } = context;
  const isCustom = served?.definition.custom !== undefined;
  const type = patchType(request.headers['content-type'], features, isCustom);
  const body = await readBody(context);
  return { type, text: body.toString(), options: parsePatchOptions(query, type) };
}

/**
 * The text is parsed at first use: whether the object exists is reported before what the text says.
 */
export function patchFunction(type: Exclude<PatchType, 'apply'>, text: string): PatchFunction {
  let parsed: { readonly patch: Json } | undefined;
  return (document, schema) => {
    parsed ??= { patch: parsePatchText(text) };
    const { patch } = parsed;
    if (type === 'json') return applyJsonPatch(document, patch);
    if (type === 'merge') return applyMergePatch(document, patch);
    if (!isJsonObject(patch)) throw badRequest('a strategic merge patch must be an object');
    return applyStrategicMergePatch(document, patch, mergeSchemaOf(schema));
  };
}

function parsePatchText(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(jsonErrorMessage(text, error));
    throw error;
  }
}

/** The syntax error in the wording that clients know. */
function jsonErrorMessage(text: string, error: SyntaxError): string {
  const trimmed = text.trimStart();
  if (trimmed === '' || error.message.includes('end of JSON input')) {
    return 'unexpected end of JSON input';
  }
  const character = /^Unexpected token '(.)'/su.exec(error.message)?.[1];
  if (character === undefined) return error.message;
  const where = trimmed.startsWith(character) ? 'looking for beginning of value' : 'in patch';
  return `invalid character '${character}' ${where}`;
}

/** The patched document as an object. Throws 422 when it is no longer of its type. */
export function decodePatched<T extends object>(patched: Json, expected: Expected<T>): T {
  const refuse = (detail: string) =>
    invalid({ group: '', kind: '' }, '', [fieldError.invalid('patch', excerpt(patched), detail)]);
  if (!isJsonObject(patched)) throw refuse('not an object');
  if (expected.isCustom) checkCustomType(patched, expected);
  const { kind, apiVersion } = patched;
  if (kind !== expected.kind || apiVersion !== expected.apiVersion) {
    throw refuse(`kind or apiVersion changed, want ${expected.apiVersion} ${expected.kind}`);
  }
  try {
    return expected.codec.fromJson(patched);
  } catch (error) {
    if (error instanceof SchemaError) throw refuse(error.message);
    throw error;
  }
}

const excerptLengthMax = 1_024;

function excerpt(patched: Json): string {
  return JSON.stringify(patched).slice(0, excerptLengthMax);
}
