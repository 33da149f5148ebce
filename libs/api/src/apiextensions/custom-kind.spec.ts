import { fieldErrorMessage } from '@orch/apimachinery';
import type { CustomResourceDefinition } from '@orch/types/apiextensions/v1beta1';
import { describe, expect, it } from 'vitest';
import type { ApiObject, CustomKind } from '../definition.js';
import { cells, now, requestContext } from '../testing/write.js';
import { customKindOf } from './custom-kind.js';
import { acceptNames } from './names.js';
import { compareVersions } from './version-order.js';

function kindOf(spec: object): CustomKind {
  const definition = {
    metadata: { name: 'gears.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear', listKind: 'GearList' },
      versions: [{ name: 'v1', served: true, storage: true }],
      preserveUnknownFields: true,
      ...spec,
    },
  } as CustomResourceDefinition;
  expect(customKindOf(definition)).toBeUndefined();
  acceptNames(definition, [], () => false, now);
  const kind = customKindOf(definition);
  if (!kind) throw new Error('not established');
  return kind;
}

const definitionOf = (spec: object) => kindOf(spec).versions[0]!.definition;
const object = (parts: object) =>
  ({ apiVersion: 'example.com/v1', kind: 'Gear', metadata: { name: 'a' }, ...parts }) as ApiObject;

describe('the kind of a definition', () => {
  it('warns about deprecated versions and names the replacement', () => {
    const version = (name: string, more: object = {}) => ({
      name,
      served: true,
      storage: name === 'v1',
      ...more,
    });
    const { versions } = kindOf({
      versions: [
        version('v1'),
        version('v2'),
        version('v1beta1', { deprecated: true }),
        version('v3', { deprecated: true }),
        version('v1alpha1', { deprecated: true, deprecationWarning: 'Too old.' }),
      ],
    });
    expect(versions.map(({ definition }) => definition.versions[0]?.warning)).toEqual([
      undefined,
      undefined,
      'example.com/v1beta1 Gear is deprecated; use example.com/v2 Gear',
      'example.com/v3 Gear is deprecated',
      'Too old.',
    ]);
  });

  it('shows the declared columns, and null for values of another type', () => {
    const columns = [
      { name: 'Teeth', type: 'integer', JSONPath: '.spec.teeth' },
      { name: 'Made', type: 'date', JSONPath: '.spec.made' },
      { name: 'Tags', type: 'string', JSONPath: '.spec.tags' },
    ];
    const definition = definitionOf({ additionalPrinterColumns: columns });
    const cellsOf = (spec: object) => cells(definition, object({ spec }));
    expect(cellsOf({ teeth: 7.5, made: '2026-01-02T03:04:00Z', tags: ['x'] })).toEqual({
      Name: 'a',
      Teeth: 7,
      Made: '5s',
      Tags: '[x]',
    });
    expect(cellsOf({ teeth: 'many', made: 'once' })).toEqual({
      Name: 'a',
      Teeth: null,
      Made: '<invalid>',
      Tags: null,
    });
  });

  it('counts changes outside metadata, including the status without a status subresource', () => {
    const generations = [{}, { subresources: { status: {} } }].map((spec) => {
      const { prepareForUpdate } = definitionOf(spec);
      return [{ spec: 1 }, { status: 1 }, { metadata: { name: 'a', labels: { l: 'm' } } }].map(
        (change) => {
          const changed = object(change);
          prepareForUpdate?.(changed, object({}), requestContext());
          return changed.metadata?.generation ?? 0;
        },
      );
    });
    expect(generations).toEqual([
      [1, 1, 0],
      [1, 0, 0],
    ]);
  });

  it('writes only the status through the status subresource', () => {
    const { status } = definitionOf({ subresources: { status: {} } });
    const changed = object({ spec: 2, status: 3, metadata: { name: 'a', labels: { l: 'm' } } });
    status?.prepareForUpdate?.(changed, object({ spec: 1, status: 1 }), requestContext());
    expect(changed).toEqual(object({ spec: 1, status: 3 }));
  });

  it('scales at the declared paths and validates their numbers', () => {
    const scale = {
      specReplicasPath: '.spec.size',
      statusReplicasPath: '.status.size',
      labelSelectorPath: '.status.selector',
    };
    const definition = definitionOf({ subresources: { scale } });
    const scaled = object({});
    expect(definition.scale?.replicas(scaled)).toBeUndefined();
    definition.scale?.setReplicas(scaled, 3);
    expect(scaled).toMatchObject({ spec: { size: 3 } });
    const wrong = object({ spec: { size: -1 }, status: { size: 2 ** 31, selector: 7 } });
    const errors = definition.validateCreate?.(wrong, requestContext()) ?? [];
    expect(errors.map(fieldErrorMessage)).toEqual([
      '.spec.size: Invalid value: -1: should be a non-negative integer',
      '.status.size: Invalid value: 2147483648: should be less than or equal to 2147483647',
      '.status.selector: Invalid value: 7: should be a string',
    ]);
  });
});

describe('versions', () => {
  it('are ordered by stability', () => {
    const inOrder = ['v10', 'v2', 'v1', 'v11beta2', 'v3beta1', 'v12alpha1', 'v11alpha2', 'a1', 'b'];
    expect([...inOrder].reverse().sort(compareVersions)).toEqual(inOrder);
  });
});
