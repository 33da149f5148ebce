/**
 * Drops the fields of disabled features from requests before any other processing, unless the
 * stored object uses the feature. Pure.
 */
import { deepEqual } from '@orch/apimachinery';
import type { Features } from '@orch/component';
import type { GatedField } from '../definition.js';

/** A value of a disabled feature, with its location. */
interface Location {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

/** A member of objects that leads to gated fields. */
interface Member {
  readonly name: string;
  /** Whether the members below are those of each element of a list. */
  readonly isList: boolean;
  /** The gated fields that end here. */
  readonly fields: GatedField[];
  readonly members: Member[];
}

/** Mutates `object`. `old`: the stored object; undefined at creation. */
export function dropDisabledFields(
  object: object,
  old: object | undefined,
  fields: readonly GatedField[],
  features: Features,
): void {
  const found = fieldsInUse(object, fields);
  let retained: Set<string> | undefined;
  for (const [field, locations] of found) {
    if (features.enabled(field.gate)) continue;
    if (old) retained ??= new Set([...fieldsInUse(old, fields).keys()].map(({ gate }) => gate));
    if (retained?.has(field.gate)) continue;
    for (const { parent, key } of locations) {
      if (field.off) parent[key] = field.off(parent[key]);
      else delete parent[key];
    }
  }
}

/** Finds all gated fields in one pass: most objects use none, and each write is searched. */
function fieldsInUse(object: object, fields: readonly GatedField[]): Map<GatedField, Location[]> {
  const found = new Map<GatedField, Location[]>();
  if (fields.length > 0) find(object as Record<string, unknown>, membersOf(fields), found);
  return found;
}

function find(
  parent: Record<string, unknown>,
  members: readonly Member[],
  found: Map<GatedField, Location[]>,
): void {
  for (const { name, isList, fields, members: inner } of members) {
    const value = parent[name];
    if (value === undefined) continue;
    for (const field of fields) {
      for (const location of locationsOf(field, { parent, key: name })) {
        const known = found.get(field);
        if (known) known.push(location);
        else found.set(field, [location]);
      }
    }
    if (inner.length === 0) continue;
    if (!isList) {
      if (isRecord(value)) find(value, inner, found);
    } else if (Array.isArray(value)) {
      for (const element of value) if (isRecord(element)) find(element, inner, found);
    }
  }
}

function locationsOf({ keys, off }: GatedField, location: Location): readonly Location[] {
  const locations = keys ? entriesOf(location).filter(({ key }) => keys(key)) : [location];
  return off
    ? locations.filter(({ parent, key }) => !deepEqual(off(parent[key]), parent[key]))
    : locations;
}

function entriesOf({ parent, key }: Location): Location[] {
  const map = parent[key];
  if (!isRecord(map)) return [];
  return Object.keys(map).map((name) => ({ parent: map, key: name }));
}

/** By the list of the gated fields of a kind. */
const trees = new WeakMap<readonly GatedField[], readonly Member[]>();

function membersOf(fields: readonly GatedField[]): readonly Member[] {
  let root = trees.get(fields);
  if (!root) {
    root = treeOf(fields);
    trees.set(fields, root);
  }
  return root;
}

function treeOf(fields: readonly GatedField[]): readonly Member[] {
  const root: Member[] = [];
  for (const field of fields) {
    let members = root;
    let last: Member | undefined;
    for (const step of field.path.split('.')) {
      const isList = step.endsWith('[]');
      const name = isList ? step.slice(0, -2) : step;
      last = members.find((member) => member.name === name && member.isList === isList);
      if (!last) {
        last = { name, isList, fields: [], members: [] };
        members.push(last);
      }
      members = last.members;
    }
    last?.fields.push(field);
  }
  return root;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same fields below `prefix`. */
export function below(prefix: string, fields: readonly GatedField[]): readonly GatedField[] {
  return fields.map((field) => ({ ...field, path: `${prefix}.${field.path}` }));
}

export function firstOnly(value: unknown): unknown {
  return Array.isArray(value) ? value.slice(0, 1) : value;
}
