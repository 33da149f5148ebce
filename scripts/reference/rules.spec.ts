import { resolve } from 'node:path';
import { define, definitions } from '@orch/api';
import { fieldError, path } from '@orch/apimachinery';
import type { ConfigMap } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { readExample } from './examples.js';
import { findRules } from './rules.js';

const folder = resolve(import.meta.dirname, '../../examples/api');

function rulesOf(kind: string, type: string) {
  const definition = definitions.find((one) => one.kind === kind)!;
  const { body } = readExample(folder, definition)!;
  return findRules([{ definition, type, body }]);
}

describe('the rules of fields', () => {
  it('are the rejections of the kind', () => {
    const rules = rulesOf('Deployment', 'apps/v1.Deployment');
    expect(rules.get('apps/v1.DeploymentSpec replicas')?.texts).toEqual(
      new Set(['must be greater than or equal to 0']),
    );
    expect(rules.get('apps/v1.DeploymentSpec selector')?.isRequired).toBe(true);
    expect(rules.get('apps/v1.DeploymentSpec selector')?.isFixed).toBe(true);
    expect(rules.get('apps/v1.DeploymentSpec replicas')?.isFixed).toBe(false);
    expect(rules.get('core/v1.Container imagePullPolicy')?.values).toEqual(
      new Set(['Always', 'IfNotPresent', 'Never']),
    );
    expect(rules.get('core/v1.ContainerPort containerPort')?.texts).toEqual(
      new Set(['must be between 1 and 65535, inclusive']),
    );
  });

  it('are specific to the kind', () => {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { key: '' },
    };
    const plain = definitions.find(({ kind }) => kind === 'ConfigMap')!;
    const { validate: _, validateUpdate: __, ...lenient } = plain;
    const strict = define<ConfigMap>({
      ...lenient,
      validate: ({ immutable }) =>
        immutable === undefined ? [fieldError.required(path('immutable'))] : [],
    });
    const found = (definition: typeof plain) =>
      findRules([{ definition, type: 'core/v1.ConfigMap', body }]).get(
        'core/v1.ConfigMap immutable',
      );
    expect(found(lenient)?.isRequired).toBe(false);
    expect(found(strict)?.isRequired).toBe(true);
  });
});
