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

/** Mutates `object`. `old`: the stored object; undefined at creation. */
export function dropDisabledFields(
  object: object,
  old: object | undefined,
  fields: readonly GatedField[],
  features: Features,
): void {
  const retainedByGate = new Map<string, boolean>();
  for (const field of fields) {
    const { gate } = field;
    if (features.enabled(gate)) continue;
    const locations = locationsInUse(object, field);
    if (locations.length === 0) continue;
    if (old) {
      let isRetained = retainedByGate.get(gate);
      if (isRetained === undefined) {
        isRetained = fields.some(
          (candidate) => candidate.gate === gate && locationsInUse(old, candidate).length > 0,
        );
        retainedByGate.set(gate, isRetained);
      }
      if (isRetained) continue;
    }
    for (const { parent, key } of locations) {
      if (field.off) parent[key] = field.off(parent[key]);
      else delete parent[key];
    }
  }
}

const names = new Map<string, readonly string[]>();

function namesOf(path: string): readonly string[] {
  let list = names.get(path);
  if (!list) {
    list = path.split('.');
    names.set(path, list);
  }
  return list;
}

function locationsInUse(object: object, { path, keys, off }: GatedField): Location[] {
  const locations: Location[] = [];
  collect(object, namesOf(path), 0, locations);
  const all = keys
    ? locations.flatMap((location) => entriesOf(location).filter(({ key }) => keys(key)))
    : locations;
  return off ? all.filter(({ parent, key }) => !deepEqual(off(parent[key]), parent[key])) : all;
}

function entriesOf({ parent, key }: Location): Location[] {
  const map = parent[key];
  if (!isRecord(map)) return [];
  return Object.keys(map).map((name) => ({ parent: map, key: name }));
}

function collect(value: unknown, path: readonly string[], at: number, locations: Location[]): void {
  if (!isRecord(value)) return;
  const name = path[at]!;
  const isLast = at === path.length - 1;
  if (name.endsWith('[]')) {
    const list = value[name.slice(0, -2)];
    if (Array.isArray(list)) for (const element of list) collect(element, path, at + 1, locations);
  } else if (!isLast) collect(value[name], path, at + 1, locations);
  else if (value[name] !== undefined) locations.push({ parent: value, key: name });
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
