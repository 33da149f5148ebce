import { dialect } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { enumValues, kindNamed, kindNames, schemaFile, schemaType } from './registry.js';

describe('names of kinds', () => {
  it('resolves apiVersion and kind to a type', () => {
    const apiVersion = dialect().apiVersion('rbac.authorization', 'v1');
    expect(kindNamed('v1', 'Pod')?.type).toBe('core/v1.Pod');
    expect(kindNamed(apiVersion, 'Role')).toEqual({
      type: 'rbac.authorization/v1.Role',
      groupHead: 'rbac.authorization',
      version: 'v1',
      kind: 'Role',
    });
    expect(kindNamed('v1', 'Status')?.type).toBe('meta/v1.Status');
    expect(kindNamed('v1', 'List')?.type).toBe('core/v1.List');
    expect(kindNamed(`${dialect().metaGroup}/v1`, 'Table')?.type).toBe('meta/v1.Table');
  });

  it('resolves common kinds in any group', () => {
    expect(kindNamed('apps/v1', 'DeleteOptions')).toMatchObject({
      type: 'meta/v1.DeleteOptions',
      groupHead: 'apps',
    });
  });

  it('resolves nothing else', () => {
    expect(kindNamed('v1', 'Nope')).toBeUndefined();
    expect(kindNamed('apps/v1', 'Pod')).toBeUndefined();
    expect(kindNamed('v1', 'constructor')).toBeUndefined();
    expect(() => schemaType('core/v1.constructor')).toThrow(RangeError);
    expect(() => schemaType('core/v9.Pod')).toThrow(RangeError);
  });

  it('are unique', () => {
    const names = kindNames().map(
      ({ groupHead, version, kind }) => `${groupHead}/${version}/${kind}`,
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('descriptors', () => {
  it('use the identifiers of the dialect', () => {
    const names = schemaType('apiextensions/v1.JSONSchemaProps').fields.map((field) => field.name);
    expect(names).toContain(dialect().extension('list-map-keys'));
    const apiGroup = schemaType('rbac.authorization/v1.RoleRef').fields.find(
      (field) => field.name === 'apiGroup',
    );
    expect(apiGroup?.default).toBe(dialect().group('rbac.authorization'));
    expect(enumValues('core/v1', 'SecretType')).toContain(dialect().key('tls'));
    expect(JSON.stringify(schemaFile('core/v1'))).not.toMatch(/\{(word|Word|key|group:|system:)/);
  });

  it('resolve aliases and include merge keys', () => {
    expect(schemaType('meta/v1beta1.Table')).toBe(schemaType('meta/v1.Table'));
    const containers = schemaType('core/v1.PodSpec').fields.find((it) => it.name === 'containers');
    expect(containers).toMatchObject({ mergeKey: 'name', mergeStrategy: 'merge' });
  });
});
