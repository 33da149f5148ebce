/**
 * Migrates objects from client-side apply, which stores the last applied configuration in an
 * annotation. The command line's manager takes those fields over without conflicts, and the
 * annotation is updated on apply.
 */
import { dialect } from '@orch/component';
import { annotationBytesMax } from '../limits.js';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  membersOf,
  setKey,
} from '../patch/json-values.js';
import { compareObjects } from './compare.js';
import { difference, type FieldSet } from './field-set.js';
import { fieldsOf } from './fields-of.js';
import { compareText } from './path-element.js';
import type { Shape } from './shape.js';
import { checkTyped, TypedError } from './typed.js';

/** Managers whose apply uses and updates the annotation. */
export const lastAppliedManagers: ReadonlySet<string> = new Set(['kubectl', 'orchctl']);

function annotationKey(): string {
  return dialect().key('last-applied-configuration', 'kubectl');
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const { metadata } = object;
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function lastAppliedOf(object: JsonObject): string {
  const text = annotationsOf(object)?.[annotationKey()];
  return typeof text === 'string' ? text : '';
}

/**
 * The fields of the last applied configuration that still have the applied value; undefined without
 * an annotation.
 */
export function allowedByLastApplied(
  shape: Shape | undefined,
  apiVersion: string,
  live: JsonObject,
): FieldSet | undefined {
  const config = parsed(lastAppliedOf(live));
  if (shape === undefined || config?.apiVersion !== apiVersion) return undefined;
  try {
    checkTyped(shape, config);
    const { added, modified, removed } = compareObjects(shape, config, live);
    return [modified, added, removed].reduce(difference, fieldsOf(shape, config));
  } catch (error) {
    if (error instanceof TypedError) return undefined;
    throw error;
  }
}

function parsed(text: string): JsonObject | undefined {
  if (text === '') return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The object, with its annotation (if it has one) set to this configuration. */
export function withLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  if (lastAppliedOf(object) === '') return object;
  const key = annotationKey();
  const { [key]: _, ...annotations } = annotationsOf(object) ?? {};
  const text = `${JSON.stringify(inOrder(withoutAnnotation(config, key)))}\n`;
  if (annotationBytes(annotations) + key.length + Buffer.byteLength(text) <= annotationBytesMax) {
    annotations[key] = text;
  }
  return { ...object, metadata: { ...membersOf(object.metadata), annotations } };
}

function annotationBytes(annotations: JsonObject): number {
  let bytes = 0;
  for (const key in annotations) {
    bytes += Buffer.byteLength(key) + Buffer.byteLength(String(annotations[key]));
  }
  return bytes;
}

function withoutAnnotation(config: JsonObject, key: string): JsonObject {
  const annotations = annotationsOf(config);
  if (annotations?.[key] === undefined) return config;
  const { [key]: _, ...rest } = annotations;
  return { ...config, metadata: { ...membersOf(config.metadata), annotations: rest } };
}

/** Sorts keys at every level, so that equal configurations have equal text. */
function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort(compareText)) setKey(result, key, inOrder(value[key]!));
  return result;
}
