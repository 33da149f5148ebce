/**
 * Patches: the stored object in the version the client speaks, changed by JSON patch, merge patch or
 * strategic merge patch, then decoded, defaulted and written like a replace. A patch that names a
 * resource version takes effect on that version only. Apply has a file of its own.
 */
import type { ApiObject } from '@orch/api';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  badRequest,
  deepCopy,
  fieldError,
  invalid,
  isJsonObject,
  type Json,
  type JsonObject,
  SchemaError,
} from '@orch/apimachinery';
import { objectStrategy } from '../registry/strategies.js';
import { type UpdateStrategy, updateObject } from '../registry/update.js';
import {
  checkCustomType,
  checkFields,
  type Expected,
  expectedOf,
  toStoredShape,
} from '../request/decode-object.js';
import { checkViewFits, type PatchType, patchType } from '../request/media-types.js';
import { mergeSchemaOf } from '../request/merge-schema.js';
import { readBody } from '../request/read-body.js';
import { type PatchOptions, parsePatchOptions } from '../request/write-options.js';
import { applyPatch } from './apply.js';
import {
  type Call,
  fieldCheck,
  managedContext,
  objectRepresentation,
  sendObject,
  targetOf,
  viewOptions,
} from './call.js';

export function handlePatch(call: Call): Promise<void> {
  return patchWith(call, objectStrategy(call.served));
}

/** Patches the object, or the part of it that `strategy` writes. */
export async function patchWith(call: Call, strategy: UpdateStrategy): Promise<void> {
  const { parts, served } = call;
  const representation = objectRepresentation(call);
  checkViewFits(representation, false);
  const options = viewOptions(call, representation);
  const { type, text, options: patchOptions } = await readPatch(call);
  if (type === 'apply') {
    return applyPatch(call, strategy, { text, options: patchOptions, view: options });
  }
  const patch = patchFunction(type, text);
  const expected = expectedOf(served);
  const check = fieldCheck(call);
  const schema = `${served.schemaPackage}.${served.kind}`;
  const produce = (existing: ApiObject) => {
    const current = deepCopy(served.fromStored(existing));
    const patched = patch(current as unknown as JsonObject, schema);
    checkFields(patched, expected, check);
    return toStoredShape(served, decodePatched(patched, expected));
  };
  const entry = await updateObject(
    parts,
    targetOf(call),
    { strategy, produce, uid: '' },
    managedContext(call, patchOptions),
  );
  sendObject(call, 200, entry, options);
}

/** Applies to a document of the type named by `schema`; may throw StatusError. */
export type PatchFunction = (document: JsonObject, schema: string) => Json;

export interface PatchRequest {
  readonly type: PatchType;
  readonly text: string;
  readonly options: PatchOptions;
}

export async function readPatch(call: Call): Promise<PatchRequest> {
  const { exchange, query } = call;
  const isCustom = call.served.definition.custom !== undefined;
  const contentType = exchange.request.headers['content-type'];
  const type = patchType(contentType, call.parts.features, isCustom);
  const body = await readBody(exchange);
  return { type, text: body.toString(), options: parsePatchOptions(query, type) };
}

/** The text is read at first use: whether there is something to patch comes before what it says. */
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

/** Where reading stopped, in words that clients of the interface know. */
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

/** The patched document as an object. Throws 422 when it does not fit its type any more. */
export function decodePatched(patched: Json, expected: Expected): ApiObject {
  const refuse = (detail: string) =>
    invalid({ group: '', kind: '' }, '', [fieldError.invalid('patch', shown(patched), detail)]);
  if (!isJsonObject(patched)) throw refuse('not an object');
  if (expected.isCustom) checkCustomType(patched, expected);
  const { kind, apiVersion } = patched;
  if (kind !== expected.kind || apiVersion !== expected.apiVersion) {
    throw refuse(`kind or apiVersion changed, want ${expected.apiVersion} ${expected.kind}`);
  }
  try {
    return expected.codec.fromJson(patched) as ApiObject;
  } catch (error) {
    if (error instanceof SchemaError) throw refuse(error.message);
    throw error;
  }
}

const shownLengthMax = 1_024;

function shown(patched: Json): string {
  return JSON.stringify(patched).slice(0, shownLengthMax);
}
