/**
 * Fields of features that can be switched off: of a feature that is off they are taken in and dropped before
 * anything looks at them, unless the stored object has the feature in use. Pure.
 */
import { deepEqual } from '@orch/apimachinery';
import type { Features } from '@orch/component';

export interface GatedField {
  /** Absent for a feature that there is not: always off. */
  readonly gate?: string;
  /** Names from the object on; `[]` after a name stands for every element of a list. */
  readonly path: string;
  /** Of a map at `path`: the keys that it is about. */
  readonly keys?: (key: string) => boolean;
  /** What a value becomes; it is dropped when absent. */
  readonly off?: (value: unknown) => unknown;
}

/** A value that the feature lets be, where it stands. */
interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

/** Changes `object`. `old`: the stored one, undefined for a creation. */
export function dropDisabledFields(
  object: object,
  old: object | undefined,
  fields: readonly GatedField[],
  features: Features,
): void {
  const kept = new Map<string, boolean>();
  for (const field of fields) {
    const { gate } = field;
    if (gate !== undefined && features.enabled(gate)) continue;
    const places = placesInUse(object, field);
    if (places.length === 0) continue;
    if (gate !== undefined && old) {
      let isKept = kept.get(gate);
      if (isKept === undefined) {
        isKept = fields.some((one) => one.gate === gate && placesInUse(old, one).length > 0);
        kept.set(gate, isKept);
      }
      if (isKept) continue;
    }
    for (const { parent, key } of places) {
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

function placesInUse(object: object, { path, keys, off }: GatedField): Place[] {
  const places: Place[] = [];
  collect(object, namesOf(path), 0, places);
  const all = keys
    ? places.flatMap((place) => entriesOf(place).filter(({ key }) => keys(key)))
    : places;
  return off ? all.filter(({ parent, key }) => !deepEqual(off(parent[key]), parent[key])) : all;
}

function entriesOf({ parent, key }: Place): Place[] {
  const map = parent[key];
  if (!isRecord(map)) return [];
  return Object.keys(map).map((name) => ({ parent: map, key: name }));
}

function collect(value: unknown, path: readonly string[], at: number, places: Place[]): void {
  if (!isRecord(value)) return;
  const name = path[at]!;
  const isLast = at === path.length - 1;
  if (name.endsWith('[]')) {
    const list = value[name.slice(0, -2)];
    if (Array.isArray(list)) for (const one of list) collect(one, path, at + 1, places);
  } else if (!isLast) collect(value[name], path, at + 1, places);
  else if (value[name] !== undefined) places.push({ parent: value, key: name });
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
