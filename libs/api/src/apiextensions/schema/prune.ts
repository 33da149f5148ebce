/**
 * Drops what a schema does not know, in place. Members of an envelope stay as they are; where unknown
 * fields are preserved, known ones are looked into all the same.
 */
import { isJsonObject, type Json } from '@orch/apimachinery';
import { envelopeMembers, memberOf, type Structural } from './structural.js';

export function pruneUnknown(value: Json, structural: Structural | undefined): void {
  const keepsUnknown = structural?.extensions.preserveUnknownFields === true;
  if (Array.isArray(value)) {
    if (structural?.items === undefined && keepsUnknown) return;
    for (const element of value) {
      if (keepsUnknown) pruneKnown(element, structural.items);
      else pruneUnknown(element, structural?.items);
    }
    return;
  }
  if (!isJsonObject(value)) return;
  if (keepsUnknown) {
    pruneKnown(value, structural);
    return;
  }
  const isResource = structural?.extensions.embeddedResource === true;
  for (const name of Object.keys(value)) {
    if (isResource && envelopeMembers.has(name)) continue;
    const isKnown = structural?.properties.has(name) || structural?.additional !== undefined;
    if (structural && isKnown) pruneUnknown(value[name]!, memberOf(structural, name));
    else delete value[name];
  }
}

/** Looks into known members only. */
function pruneKnown(value: Json, structural: Structural | undefined): void {
  if (!structural) return;
  if (Array.isArray(value)) {
    for (const element of value) pruneKnown(element, structural.items);
    return;
  }
  if (!isJsonObject(value)) return;
  const isResource = structural.extensions.embeddedResource === true;
  for (const name of Object.keys(value)) {
    if (isResource && envelopeMembers.has(name)) continue;
    const isKnown = structural.properties.has(name) || structural.additional !== undefined;
    if (isKnown) pruneUnknown(value[name]!, memberOf(structural, name));
  }
}

/** Drops nulls of members that may not be null and have no default to take their place, in place. */
export function pruneNulls(value: Json, structural: Structural | undefined): void {
  if (!structural) return;
  if (Array.isArray(value)) {
    for (const element of value) pruneNulls(element, structural.items);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    const member = memberOf(structural, name);
    if (!member) continue;
    const item = value[name]!;
    if (item !== null) pruneNulls(item, member);
    else if (!member.isNullable && member.default === undefined) delete value[name];
  }
}
