import { selectDialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { modelName, reachableModels } from './models.js';
import { typeSchema } from './schema.js';
import type { OpenApiVersion } from './schema-types.js';

selectDialect('kubernetes');

function property(version: OpenApiVersion, type: string, name: string) {
  return typeSchema(version, type, []).properties?.[name];
}

describe('typeSchema', () => {
  it('names kinds, required fields and the members of inlined types', () => {
    const pod = typeSchema(2, 'core/v1.Pod', []);
    expect(pod['x-kubernetes-group-version-kind']).toEqual([
      { group: '', kind: 'Pod', version: 'v1' },
    ]);
    expect(Object.keys(pod.properties ?? {})).toEqual([
      'apiVersion',
      'kind',
      'metadata',
      'spec',
      'status',
    ]);
    expect(typeSchema(2, 'apps/v1.DeploymentSpec', []).required).toEqual(['selector', 'template']);
    expect(property(2, 'core/v1.Volume', 'emptyDir')).toMatchObject({
      $ref: '#/definitions/io.k8s.api.core.v1.EmptyDirVolumeSource',
    });
  });

  it('describes how patches and applies merge lists', () => {
    expect(property(2, 'core/v1.Container', 'ports')).toMatchObject({
      type: 'array',
      'x-kubernetes-patch-merge-key': 'containerPort',
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
    });
    expect(typeSchema(2, 'meta/v1.LabelSelector', [])['x-kubernetes-map-type']).toBe('atomic');
  });

  it('gives formats to scalars and to types with a form of their own', () => {
    expect(property(2, 'apps/v1.DeploymentSpec', 'replicas')).toMatchObject({
      type: 'integer',
      format: 'int32',
    });
    expect(property(2, 'core/v1.Secret', 'data')).toMatchObject({
      type: 'object',
      additionalProperties: { type: 'string', format: 'byte' },
    });
    expect(typeSchema(2, 'meta/v1.Time', [])).toMatchObject({
      type: 'string',
      format: 'date-time',
    });
    expect(typeSchema(2, 'util/intstr.IntOrString', [])).toMatchObject({
      type: 'string',
      format: 'int-or-string',
    });
    expect(typeSchema(3, 'util/intstr.IntOrString', [])).toMatchObject({
      oneOf: [{ type: 'integer' }, { type: 'string' }],
      format: 'int-or-string',
    });
  });

  it('retains siblings of a reference in version 3', () => {
    expect(property(3, 'apps/v1.DeploymentSpec', 'strategy')).toMatchObject({
      allOf: [{ $ref: '#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy' }],
      'x-kubernetes-patch-strategy': 'retainKeys',
    });
    expect(property(3, 'apps/v1.DeploymentSpec', 'replicas')?.default).toBe(1);
    expect(property(3, 'apps/v1.DeploymentStrategy', 'type')?.default).toBe('RollingUpdate');
  });

  it('describes fields by their comment and their constraints', () => {
    expect(property(2, 'apps/v1.DeploymentStrategy', 'type')?.description).toMatch(
      /^`RollingUpdate` replaces pods .* Known values: Recreate, RollingUpdate. Default: RollingUpdate.$/,
    );
  });

  it('describes an older version like the stable one, and omits missing descriptions', () => {
    const schedule = (version: string) =>
      property(2, `batch/${version}.CronJobSpec`, 'schedule')?.description;
    expect(schedule('v1')).toContain('cron');
    expect(schedule('v1beta1')).toBe(schedule('v1'));
    expect(property(2, 'apps/v1.DeploymentList', 'metadata')).not.toHaveProperty('description');
  });

  it('inlines types without a definition', () => {
    expect(modelName('meta/v1.Verbs')).toBeUndefined();
    expect(property(2, 'meta/v1.APIResource', 'verbs')).toMatchObject({
      type: 'array',
      items: { type: 'string' },
    });
  });

  it('lists kinds of all groups under each', () => {
    const schema = typeSchema(2, 'meta/v1.DeleteOptions', [{ group: 'apps', version: 'v1' }]);
    expect(schema['x-kubernetes-group-version-kind']).toEqual([
      { group: 'apps', version: 'v1', kind: 'DeleteOptions' },
    ]);
  });
});

describe('reachableModels', () => {
  it('follows fields, through inlined types too, and ends where types refer to themselves', () => {
    const names = reachableModels(['apps/v1.Deployment']).map(({ name }) => name);
    expect(names).toContain('io.k8s.api.core.v1.EmptyDirVolumeSource');
    expect(names).toContain('io.k8s.apimachinery.pkg.api.resource.Quantity');
    expect(names).not.toContain('io.k8s.api.core.v1.VolumeSource');
    expect(names).toEqual([...names].sort());
    const schemas = reachableModels(['apiextensions/v1.CustomResourceDefinition']);
    expect(schemas.filter(({ type }) => type.endsWith('.JSONSchemaProps'))).toHaveLength(1);
  });
});
