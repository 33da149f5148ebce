/**
 * Drops unknown fields in place. Envelope members stay; if unknown fields are preserved, known
 * fields are still pruned recursively.
 */
import { isJsonObject, type Json } from '@orch/apimachinery';
import { envelopeMembers, memberOf, type Structural } from './structural.js';

export function pruneUnknown(value: Json, structural: Structural | undefined): void {
  if (structural?.extensions.preserveUnknownFields) {
    pruneKnown(value, structural);
    return;
  }
  if (Array.isArray(value)) {
    const items = structural?.items;
    for (const element of value) if (isComposite(element)) pruneUnknown(element, items);
    return;
  }
  if (!isJsonObject(value)) return;
  const isResource = structural?.extensions.embeddedResource === true;
  for (const name of Object.keys(value)) {
    if (isResource && envelopeMembers.has(name)) continue;
    const member = structural?.properties.get(name) ?? structural?.additional;
    if (member === undefined) delete value[name];
    else pruneMember(value[name]!, member);
  }
}

/** Prunes known members only. */
function pruneKnown(value: Json, structural: Structural | undefined): void {
  if (!structural) return;
  if (Array.isArray(value)) {
    for (const element of value) if (isComposite(element)) pruneKnown(element, structural.items);
    return;
  }
  if (!isJsonObject(value)) return;
  const isResource = structural.extensions.embeddedResource === true;
  for (const name of Object.keys(value)) {
    if (isResource && envelopeMembers.has(name)) continue;
    const member = structural.properties.get(name) ?? structural.additional;
    if (member !== undefined) pruneMember(value[name]!, member);
  }
}

/** Members of any form have no known fields. */
function pruneMember(value: Json, member: Structural | boolean): void {
  if (isComposite(value)) pruneUnknown(value, typeof member === 'object' ? member : undefined);
}

function isComposite(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

/** Drops nulls in place if the member is neither nullable nor has a default. */
export function pruneNulls(value: Json, structural: Structural | undefined): void {
  if (!structural) return;
  if (Array.isArray(value)) {
    const { items } = structural;
    for (const element of value) if (isComposite(element)) pruneNulls(element, items);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    const item = value[name]!;
    if (typeof item !== 'object') continue;
    const member = memberOf(structural, name);
    if (!member) continue;
    if (item !== null) pruneNulls(item, member);
    else if (!member.isNullable && member.default === undefined) delete value[name];
  }
}
