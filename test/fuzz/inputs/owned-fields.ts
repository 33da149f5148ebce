/** The field paths of a configuration, which its manager owns after apply. */
import { isJsonObject, type Json, type JsonObject, type Shape } from '@orch/apimachinery';

/** Fields without an owner. */
const nobodys = [
  ...['apiVersion', 'kind', 'metadata'],
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation'].map(
    (name) => `metadata/f:${name}`,
  ),
  ...['managedFields', 'resourceVersion'].map((name) => `metadata/f:${name}`),
];
const notOwned = new Set(nobodys.map((path) => `/f:${path}`));

function itemName(shape: Extract<Shape, { kind: 'list' }>, item: Json): string {
  if (shape.type === 'set') return `v:${JSON.stringify(item)}`;
  const named = shape.keys
    .map((key) => [key.name, isJsonObject(item) ? (item[key.name] ?? key.default) : undefined])
    .filter(([, value]) => value !== undefined && value !== null);
  return `k:${JSON.stringify(Object.fromEntries(named))}`;
}

function collect(shape: Shape, value: Json, at: string, into: Set<string>): void {
  const kind = shape.kind !== 'any' ? shape.kind : undefined;
  if (kind === 'scalar' || value === null || (kind === undefined && !isJsonObject(value))) {
    into.add(at);
  } else if (shape.kind === 'list') {
    if (shape.type === 'atomic') into.add(at);
    else {
      for (const item of value as Json[]) {
        const below = `${at}/${itemName(shape, item)}`;
        into.add(below);
        if (isJsonObject(item)) collect(shape.element, item, below, into);
      }
    }
  } else if (shape.kind === 'map' && shape.isAtomic) into.add(at);
  else {
    for (const [name, member] of Object.entries(value as JsonObject)) {
      const below = `${at}/f:${name}`;
      const field = shape.kind === 'map' ? shape.fields.get(name) : undefined;
      const others = shape.kind === 'map' ? shape.others : shape;
      const isEmpty = isJsonObject(member) && Object.keys(member).length === 0;
      if (!field || isEmpty) into.add(below);
      collect(field?.shape ?? others!, member, below, into);
    }
  }
}

/** `without` are the fields that this kind of write resets, such as `status`. */
export function ownedFields(
  shape: Shape,
  config: JsonObject,
  without: readonly string[],
): string[] {
  const paths = new Set<string>();
  collect(shape, config, '', paths);
  const isReset = (path: string) => without.some((name) => `${path}/`.startsWith(`/f:${name}/`));
  return [...paths].filter((path) => path !== '' && !notOwned.has(path) && !isReset(path)).sort();
}

/** The field paths of a set in managed fields. */
export function shownFields(set: JsonObject, at = ''): string[] {
  return Object.entries(set)
    .flatMap(([name, below]) => {
      if (name === '.') return [at];
      const path = `${at}/${name}`;
      const members = below as JsonObject;
      return Object.keys(members).length === 0 ? [path] : shownFields(members, path);
    })
    .sort();
}
