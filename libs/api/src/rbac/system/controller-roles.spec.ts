import { FeatureGates } from '@orch/component';
import { expect, it } from 'vitest';
import { systemClusterRoleBindings, systemClusterRoles } from './cluster-roles.js';

const account = 'storage-version-garbage-collector';
const role = `system:controller:${account}`;

it.each([
  [{}, false],
  [{ APIServerIdentity: 'true' }, false],
  [{ APIServerIdentity: 'true', StorageVersionAPI: 'true' }, true],
])('binds a role to the collector of storage versions with gates %o: %s', (gates, isBound) => {
  const features = new FeatureGates('apiserver');
  features.set(gates);
  const roles = systemClusterRoles(features).filter(({ metadata }) => metadata?.name === role);
  const bindings = systemClusterRoleBindings(features).filter(
    ({ roleRef }) => roleRef?.name === role,
  );
  expect(roles).toHaveLength(isBound ? 1 : 0);
  expect(bindings.flatMap(({ subjects = [] }) => subjects.map(({ name }) => name))).toEqual(
    isBound ? [account] : [],
  );
});
