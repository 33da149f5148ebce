import { type FieldDescriptor, schemaType } from '@orch/apimachinery';
import { FeatureGates } from '@orch/component';
import { describe, expect, it } from 'vitest';
import type { GatedField } from '../definition.js';
import { definitions } from '../definitions.js';
import { dropDisabledFields, firstOnly } from './gated-fields.js';

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
];
const full = () => ({
  a: [{ b: { c: 1, e: 2 } }, {}, null],
  d: 3,
  map: { 'x/1': 'y', z: 'y' },
  list: [1, 2],
});

function dropped(old: object | undefined, gates = off): object {
  const object = full();
  dropDisabledFields(object, old, fields, gates);
  return object;
}

describe('fields of disabled features', () => {
  const withoutGatedFields = {
    a: [{ b: { e: 2 } }, {}, null],
    map: { z: 'y' },
    list: [1],
  };

  it('are dropped, those of enabled features are not', () => {
    expect(dropped(undefined)).toEqual(withoutGatedFields);
    expect(dropped(undefined, features({}))).toEqual(full());
  });

  it('stay if the stored object uses the feature', () => {
    expect(dropped({ d: 0, list: [9] })).toEqual({
      ...full(),
      map: { z: 'y' },
      list: [1],
    });
    expect(dropped({ list: [8, 9], map: { 'x/2': '' } })).toEqual({
      ...withoutGatedFields,
      map: full().map,
      list: [1, 2],
    });
    expect(dropped({ map: { z: 'x/' } })).toEqual(withoutGatedFields);
  });
});

describe('every gated field', () => {
  const all = definitions.flatMap((definition) =>
    (definition.gatedFields ?? []).map((field) => [definition, field] as const),
  );

  it.each(all)('of $kind is a field of the kind: $path', (definition, { path, gate }) => {
    const { group, version } = definition.stored;
    const type = `${group}/${version}.${definition.kind}`;
    expect(hasPath(type, path)).toBe(true);
    expect(() => features({}).enabled(gate)).not.toThrow();
  });
});

/** Reports whether the schema has every field of the path. */
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
