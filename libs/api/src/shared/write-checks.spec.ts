import type { ConfigMap } from '@orch/types/core/v1';
import type { Role } from '@orch/types/rbac.authorization/v1';
import { expect, it } from 'vitest';
import { configMap } from '../core/config-map.js';
import { podDisruptionBudget } from '../policy/pod-disruption-budget.js';
import { role } from '../rbac/role.js';
import { create, update } from '../testing/write.js';

const standard = 'is neither a standard finalizer name nor is it fully qualified';

it('updateErrors reports metadata once for each check that finds it', () => {
  const { object } = create<ConfigMap>(configMap, {});
  const { causes } = update(configMap, object, (changed: ConfigMap) => {
    changed.metadata!.labels = { a: '-' };
  });
  expect(causes.map(({ field }) => field)).toEqual(Array(4).fill('metadata.labels'));
});

it('updateErrors leaves the rules of finalizers to the kind', () => {
  const { object } = create<Role>(role, {});
  const { errors } = update(role, object, (changed: Role) => {
    changed.metadata!.finalizers = ['plain'];
  });
  expect(errors).toEqual(
    Array(3).fill(`metadata.finalizers[0]: Invalid value: "plain": name ${standard}`),
  );
});

it('updateErrors rejects deletion fields of an object that is not being deleted', () => {
  const { object } = create<ConfigMap>(configMap, {});
  const { errors } = update(configMap, object, (changed: ConfigMap) => {
    changed.metadata!.deletionTimestamp = '2026-01-02T03:04:05Z';
    changed.metadata!.deletionGracePeriodSeconds = 5;
  });
  const each = [
    'metadata.deletionTimestamp: Invalid value: 2026-01-02 03:04:05 +0000 UTC: field is immutable',
    'metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable',
  ];
  expect(errors).toEqual([...each, ...each]);
});

it('createErrors validates common metadata last if the kind does not', () => {
  const named = (name: string, spec: object) =>
    create(podDisruptionBudget, { metadata: { name }, spec }).errors;
  expect(named('a%', {})).toEqual([`metadata.name: Invalid value: "a%": may not contain '%'`]);
  expect(named('a%', { minAvailable: -1 })).toEqual([
    'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0',
  ]);
});
