import { type FieldDescriptor, schemaType } from '@orch/apimachinery';
import { FeatureGates } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { definitions } from '../definitions.js';
import { dropDisabledFields, firstOnly, type GatedField } from './gated-fields.js';

const features = (pairs: Record<string, string>) => {
  const gates = new FeatureGates('apiserver');
  gates.set(pairs);
  return gates;
};
const off = features({ AppArmor: 'false', VolumeSubpath: 'false', IPv6DualStack: 'false' });
const fields: readonly GatedField[] = [
  { gate: 'VolumeSubpath', path: 'a[].b.c' },
  { gate: 'VolumeSubpath', path: 'd' },
  { gate: 'AppArmor', path: 'map', keys: (key) => key.startsWith('x/') },
  { gate: 'IPv6DualStack', path: 'list', off: firstOnly },
  { path: 'never' },
];
const full = () => ({
  a: [{ b: { c: 1, e: 2 } }, {}, null],
  d: 3,
  map: { 'x/1': 'y', z: 'y' },
  list: [1, 2],
  never: 4,
});

function dropped(old: object | undefined, gates = off): object {
  const object = full();
  dropDisabledFields(object, old, fields, gates);
  return object;
}

describe('fields of features that are off', () => {
  const without = {
    a: [{ b: { e: 2 } }, {}, null],
    map: { z: 'y' },
    list: [1],
  };

  it('are dropped, those of features that are on are not', () => {
    expect(dropped(undefined)).toEqual(without);
    const { never: _never, ...rest } = full();
    expect(dropped(undefined, features({}))).toEqual(rest);
  });

  it('stay where the stored object has the feature in use', () => {
    expect(dropped({ d: 0, list: [9] })).toEqual({
      ...full(),
      map: { z: 'y' },
      list: [1],
      never: undefined,
    });
    expect(dropped({ list: [8, 9], map: { 'x/2': '' } })).toEqual({
      ...without,
      map: full().map,
      list: [1, 2],
    });
    expect(dropped({ never: 1, map: { z: 'x/' } })).toEqual(without);
  });
});

describe('every gated field', () => {
  const all = definitions.flatMap((definition) =>
    (definition.gatedFields ?? []).map((field) => [definition, field] as const),
  );

  it.each(all)('of $kind is one of the kind: $path', (definition, { path, gate }) => {
    const { group, version } = definition.stored;
    const type = `${group}/${version}.${definition.kind}`;
    expect(hasPath(type, path)).toBe(true);
    if (gate !== undefined) expect(() => features({}).enabled(gate)).not.toThrow();
  });
});

/** Whether the schema knows every name of the path. */
function hasPath(type: string, path: string): boolean {
  let at: string | undefined = type;
  for (const part of path.split('.')) {
    const name = part.replace('[]', '');
    const field: FieldDescriptor | undefined = at === undefined ? undefined : fieldOf(at, name);
    if (!field || part.endsWith('[]') !== (field.cardinality === 'list' && part !== name)) {
      return false;
    }
    at = field.ref;
  }
  return true;
}

function fieldOf(type: string, name: string): FieldDescriptor | undefined {
  const { fields } = schemaType(type);
  const own = fields.find((field) => field.name === name);
  return (
    own ??
    fields
      .filter(({ inline }) => inline)
      .map(({ ref }) => fieldOf(ref!, name))
      .find(Boolean)
  );
}
