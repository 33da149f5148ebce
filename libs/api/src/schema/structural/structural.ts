/**
 * The structural part of a schema: members, elements and extensions, without value constraints.
 * Pruning, defaults, apply and the rules of lists and embedded resources traverse it. Computed once
 * per schema, with flags for subtrees that can be skipped.
 */
import { type Json } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { type Extensions, extensionsOf } from '../common/extensions.js';

export interface Structural {
  readonly schema: JSONSchemaProps;
  readonly type: string | undefined;
  readonly isNullable: boolean;
  readonly default: Json | undefined;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Schema of additionalProperties; a boolean says whether any are allowed. */
  readonly additional: Structural | boolean | undefined;
  readonly items: Structural | undefined;
  readonly extensions: Extensions;
  /** In this schema or below. */
  readonly hasDefaults: boolean;
  readonly hasEmbedded: boolean;
  readonly hasKeyedLists: boolean;
}

/** Members of every object, whose shape a schema cannot change. */
export const envelopeMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Skips parts that structural schemas do not have, such as tuples. */
export function structuralOf(schema: JSONSchemaProps): Structural {
  const extensions = extensionsOf(schema);
  const properties = new Map(
    Object.entries(schema.properties ?? {}).map(([name, member]) => [name, structuralOf(member)]),
  );
  const { additionalProperties, items: element } = schema;
  const additional =
    typeof additionalProperties === 'object'
      ? structuralOf(additionalProperties)
      : additionalProperties;
  const items = element && !Array.isArray(element) ? structuralOf(element) : undefined;
  const parts = [...properties.values()];
  if (typeof additional === 'object') parts.push(additional);
  if (items) parts.push(items);
  const fallback = (schema.default ?? undefined) as Json | undefined;
  return {
    schema,
    type: schema.type || undefined,
    isNullable: schema.nullable === true,
    default: fallback,
    properties,
    additional,
    items,
    extensions,
    hasDefaults: fallback !== undefined || parts.some((part) => part.hasDefaults),
    hasEmbedded: extensions.embeddedResource === true || parts.some((part) => part.hasEmbedded),
    hasKeyedLists:
      extensions.listType === 'set' ||
      extensions.listType === 'map' ||
      parts.some((part) => part.hasKeyedLists),
  };
}

/** The schema of a member; undefined if there is none. */
export function memberOf(structural: Structural, name: string): Structural | undefined {
  const property = structural.properties.get(name);
  if (property) return property;
  return typeof structural.additional === 'object' ? structural.additional : undefined;
}

/** The schema as a resource, with the envelope of every object. */
export function asResource(structural: Structural): Structural {
  const extensions = { ...structural.extensions, embeddedResource: true };
  return { ...structural, extensions, hasEmbedded: true };
}
