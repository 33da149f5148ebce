/**
 * The skeleton of a schema: which members and elements a value has and what is particular to them, without
 * the rules of values. Pruning, defaults, apply and the rules of lists and embedded resources walk it. It
 * is made once a schema; what needs no walk below a place is known there.
 */
import { type Json } from '@orch/apimachinery';
import type { JSONSchemaProps } from '@orch/types/apiextensions/v1';
import { type Extensions, extensionsOf } from './extensions.js';

export interface Structural {
  readonly schema: JSONSchemaProps;
  readonly type: string | undefined;
  readonly isNullable: boolean;
  readonly default: Json | undefined;
  readonly properties: ReadonlyMap<string, Structural>;
  /** Of members that are no properties; a boolean says whether there may be any, of any form. */
  readonly additional: Structural | boolean | undefined;
  readonly items: Structural | undefined;
  readonly extensions: Extensions;
  /** Here or below. */
  readonly hasDefaults: boolean;
  readonly hasEmbedded: boolean;
  readonly hasKeyedLists: boolean;
}

/** Members of every object, whose shape no schema changes. */
export const envelopeMembers: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Parts that no structural schema has, such as a list of schemas for elements, are left out. */
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

/** The structural schema of a member; undefined where there is none. */
export function memberOf(structural: Structural, name: string): Structural | undefined {
  const property = structural.properties.get(name);
  if (property) return property;
  return typeof structural.additional === 'object' ? structural.additional : undefined;
}

/** As a resource of its own: with the envelope that every object has. */
export function asResource(structural: Structural): Structural {
  const extensions = { ...structural.extensions, embeddedResource: true };
  return { ...structural, extensions, hasEmbedded: true };
}
