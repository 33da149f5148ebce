import {
  applyMergePatch,
  applyStrategicMergePatch,
  deepEqual,
  type Json,
  type JsonObject,
  type MergeSchema,
} from '@orch/apimachinery';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ResourceType } from '../session/catalog.js';
import { patchSchemaOf } from './patch-schema.js';
import { threeWayPatch } from './three-way-patch.js';

function typeOf(groupName: string, kind: string): ResourceType {
  return {
    group: groupName || 'core',
    groupName,
    version: 'v1',
    plural: `${kind.toLowerCase()}s`,
    kind,
    namespaced: true,
    verbs: [],
    singularName: '',
    shortNames: [],
    categories: [],
  };
}

const deployments = patchSchemaOf(typeOf('apps', 'Deployment'))!;

const deployment = (containers: Json[], spec: JsonObject = {}): JsonObject => ({
  metadata: { name: 'web' },
  spec: { ...spec, template: { spec: { containers } } },
});

describe('threeWayPatch with a schema', () => {
  it('leaves fields of other clients and equal fields unchanged', () => {
    const config = deployment([{ name: 'app', image: 'a:1' }]);
    const live = deployment(
      [
        { name: 'app', image: 'a:1', imagePullPolicy: 'Always', terminationMessagePath: '/x' },
        { name: 'sidecar', image: 'injected' },
      ],
      { replicas: 7 },
    );
    expect(threeWayPatch(config, config, live, deployments)).toBeUndefined();
  });

  it('changes one container by its name and removes missing ones', () => {
    const last = deployment([
      { name: 'app', image: 'a:1', env: [{ name: 'OLD', value: '1' }] },
      { name: 'gone', image: 'b' },
    ]);
    const desired = deployment([{ name: 'app', image: 'a:2' }]);
    expect(threeWayPatch(last, desired, last, deployments)).toEqual({
      spec: {
        template: {
          spec: {
            $setElementOrder: undefined,
            '$setElementOrder/containers': [{ name: 'app' }],
            containers: [
              { name: 'app', image: 'a:2', env: null },
              { name: 'gone', $patch: 'delete' },
            ],
          },
        },
      },
    });
  });

  it('drops the other alternatives of a changed union', () => {
    const rolling = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } };
    const live = deployment([], { strategy: rolling });
    const desired = deployment([], { strategy: { type: 'Recreate' } });
    const patch = threeWayPatch({}, desired, live, deployments)!;
    expect(patch).toEqual({ spec: { strategy: { type: 'Recreate', $retainKeys: ['type'] } } });
    const result = applyStrategicMergePatch(live, patch, deployments as MergeSchema);
    expect(result.spec).toMatchObject({ strategy: { type: 'Recreate' } });
    expect(JSON.stringify(result)).not.toContain('rollingUpdate');
  });

  it('adds and removes finalizers as members of a set', () => {
    const meta = (...finalizers: string[]): JsonObject => ({ metadata: { finalizers } });
    expect(threeWayPatch(meta('a', 'b'), meta('b', 'c'), meta('a', 'b', 'x'), deployments)).toEqual(
      {
        metadata: {
          finalizers: ['c'],
          '$deleteFromPrimitiveList/finalizers': ['a'],
          '$setElementOrder/finalizers': ['b', 'c'],
        },
      },
    );
  });

  it('replaces a list whose elements share a merge key', () => {
    const ports = (...list: [number, string][]) =>
      deployment([
        {
          name: 'app',
          ports: list.map(([containerPort, protocol]) => ({ containerPort, protocol })),
        },
      ]);
    const live = ports([53, 'TCP'], [53, 'UDP']);
    expect(threeWayPatch(live, live, live, deployments)).toBeUndefined();
    const patch = threeWayPatch(live, ports([53, 'UDP'], [53, 'TCP']), live, deployments)!;
    const result = applyStrategicMergePatch(live, patch, deployments as MergeSchema);
    expect(result).toEqual(ports([53, 'UDP'], [53, 'TCP']));
  });
});

describe('threeWayPatch without a schema', () => {
  it('replaces lists and removes fields of the last configuration', () => {
    const last = { spec: { list: [1], gone: 'x', kept: 1 } };
    const live = { spec: { list: [1], gone: 'x', kept: 1, foreign: true } };
    expect(threeWayPatch(last, { spec: { list: [1, 2], kept: 1 } }, live)).toEqual({
      spec: { list: [1, 2], gone: null },
    });
  });

  it('always results in the configuration plus the fields of other clients', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const tree = fc.letrec<{ map: JsonObject; value: Json }>((tie) => ({
      map: fc.dictionary(key, tie('value'), { maxKeys: 4 }) as fc.Arbitrary<JsonObject>,
      value: fc.oneof(
        { maxDepth: 3 },
        fc.nat(2),
        fc.array(fc.nat(2), { maxLength: 2 }),
        tie('map'),
      ),
    })).map;
    fc.assert(
      fc.property(tree, tree, tree, (last, desired, live) => {
        const patch = threeWayPatch(last, desired, live);
        const result = patch ? (applyMergePatch(live, patch) as JsonObject) : live;
        expectContains(result, desired);
        for (const name of Object.keys(live)) {
          if (name in desired || name in last) continue;
          expect(deepEqual(result[name], live[name])).toBe(true);
        }
        for (const name of Object.keys(last))
          if (!(name in desired)) expect(result[name]).toBeUndefined();
      }),
    );
  });
});

function expectContains(result: Json | undefined, desired: Json): void {
  if (typeof desired !== 'object' || desired === null || Array.isArray(desired)) {
    expect(result).toEqual(desired);
    return;
  }
  for (const [name, value] of Object.entries(desired)) {
    expectContains((result as JsonObject)[name], value);
  }
}
