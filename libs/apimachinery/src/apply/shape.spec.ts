import { describe, expect, it } from 'vitest';
import { schemaFile, schemaFileNames } from '../schema/registry.js';
import { type ListShape, type MapShape, memberShape, type Shape, shapeOf } from './shape.js';

function at(type: string, ...names: readonly string[]): Shape {
  return names.reduce<Shape>((shape, name) => {
    const whole = shape.kind === 'list' ? shape.element : shape;
    return memberShape(whole as MapShape, name)!;
  }, shapeOf(type));
}

function keysOf(shape: Shape): unknown {
  return (shape as ListShape).keys;
}

describe('shapes', () => {
  it('exist for every type', () => {
    for (const file of schemaFileNames()) {
      for (const type of Object.keys(schemaFile(file).types)) {
        const shape = shapeOf(`${file}.${type}`);
        if (shape.kind === 'map') expect(shape.fields.size).toBeGreaterThanOrEqual(0);
      }
    }
  });

  it('identify elements by list type, or by the merge key', () => {
    expect(at('core/v1.Pod', 'spec', 'containers')).toMatchObject({ type: 'map' });
    expect(keysOf(at('core/v1.Pod', 'spec', 'containers'))).toEqual([{ name: 'name' }]);
    expect(keysOf(at('core/v1.Pod', 'spec', 'containers', 'ports'))).toEqual([
      { name: 'containerPort' },
      { name: 'protocol', default: 'TCP' },
    ]);
    expect(keysOf(at('core/v1.Pod', 'metadata', 'ownerReferences'))).toEqual([{ name: 'uid' }]);
    expect(at('core/v1.Pod', 'metadata', 'finalizers')).toMatchObject({ type: 'set' });
    expect(at('core/v1.Pod', 'spec', 'tolerations')).toMatchObject({ type: 'atomic' });
  });

  it('treat selectors as atomic, and node selectors as granular', () => {
    expect(at('apps/v1.Deployment', 'spec', 'selector')).toMatchObject({ isAtomic: true });
    expect(at('core/v1.Pod', 'spec', 'nodeSelector')).toMatchObject({ isAtomic: false });
  });

  it('treat quantities and times as any scalar, and data as text', () => {
    const requests = at('core/v1.Pod', 'spec', 'containers', 'resources', 'requests') as MapShape;
    expect(requests.others).toEqual({ kind: 'scalar', type: 'untyped' });
    const created = at('core/v1.Pod', 'metadata', 'creationTimestamp');
    expect(created).toEqual({ kind: 'scalar', type: 'untyped' });
    const data = at('core/v1.Secret', 'data') as MapShape;
    expect(data.others).toEqual({ kind: 'scalar', type: 'string' });
  });
});
