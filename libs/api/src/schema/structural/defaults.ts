/**
 * Sets the defaults of a schema in place: for absent values, and for nulls that are not allowed.
 */
import { deepCopy, isJsonObject, type Json, setKey } from '@orch/apimachinery';
import { memberOf, type Structural } from './structural.js';

export function fillDefaults(value: Json, structural: Structural | undefined): void {
  if (!structural?.hasDefaults) return;
  if (Array.isArray(value)) fillElements(value, structural.items);
  else if (isJsonObject(value)) {
    for (const [name, { default: fallback, isNullable }] of structural.properties) {
      if (fallback === undefined) continue;
      const isAbsent = !Object.hasOwn(value, name) || (value[name] === null && !isNullable);
      if (isAbsent) setKey(value, name, deepCopy(fallback));
    }
    for (const name of Object.keys(value)) {
      const member = memberOf(structural, name);
      if (!member?.hasDefaults) continue;
      if (value[name] === null && !member.isNullable && member.default !== undefined) {
        setKey(value, name, deepCopy(member.default));
      }
      fillDefaults(value[name]!, member);
    }
  }
}

function fillElements(list: Json[], items: Structural | undefined): void {
  if (!items?.hasDefaults) return;
  for (let index = 0; index < list.length; index += 1) {
    if (list[index] === null && !items.isNullable && items.default !== undefined) {
      list[index] = deepCopy(items.default);
    }
    fillDefaults(list[index]!, items);
  }
}
