import type { ClusterRole, ClusterRoleBinding } from '@orch/types/rbac.authorization/v1';
import { describe, expect, it } from 'vitest';
import { missingRules } from './covers.js';
import {
  account,
  bindingOf,
  groupOf,
  objectOf,
  rbacAutoUpdateAnnotation,
  user,
} from './objects.js';
import { isAutoUpdated, isRoleRefChanged, reconcileBinding, reconcileRole } from './reconcile.js';
import { rule, urls } from './rule.js';

describe('missing rules', () => {
  it.each([
    ['nothing, where the same is held', [rule('get list', 'core', 'pods')], []],
    ['nothing, where everything is held', [rule('*', '*', '*')], []],
    ['what one verb lacks', [rule('get', 'core', 'pods')], [rule('list', 'core', 'pods')]],
    [
      'what only some names have',
      [rule('get list', 'core', 'pods', ['a'])],
      [rule('get', 'core', 'pods'), rule('list', 'core', 'pods')],
    ],
    [
      'what is held in another group',
      [rule('get list', 'apps', 'pods')],
      [rule('get', 'core', 'pods'), rule('list', 'core', 'pods')],
    ],
  ])('are %s', (_what, held, missing) => {
    expect(missingRules(held, [rule('get list', 'core', 'pods')])).toEqual(missing);
  });
  it('consider subresource wildcards and URL prefixes', () => {
    const held = [rule('get', '*', '*/scale'), urls('get', '/api/*')];
    expect(missingRules(held, [rule('get', 'apps', 'deployments/scale')])).toEqual([]);
    expect(missingRules(held, [rule('get', 'apps', 'deployments')])).toHaveLength(1);
    expect(missingRules(held, [urls('get', '/api/v1')])).toEqual([]);
    expect(missingRules(held, [urls('get', '/apis')])).toEqual([urls('get', '/apis')]);
  });
  it('of named objects exclude granted names', () => {
    const desiredRules = [rule('get', 'core', 'secrets', ['a', 'b'])];
    expect(missingRules([rule('get', 'core', 'secrets', ['a'])], desiredRules)).toEqual([
      rule('get', 'core', 'secrets', ['b']),
    ]);
    expect(missingRules([rule('get', 'core', 'secrets')], desiredRules)).toEqual([]);
  });
});

describe('reconciling', () => {
  const desired: ClusterRole = {
    ...objectOf('ClusterRole', 'r'),
    rules: [rule('get', 'core', 'pods')],
  };

  it('adds rules, labels and annotations, and keeps existing values', () => {
    const role: ClusterRole = {
      metadata: { name: 'r', labels: { 'orch.io/bootstrapping': 'mine', a: 'b' } },
      rules: [rule('list', 'core', 'nodes')],
      aggregationRule: { clusterRoleSelectors: [{}] },
    };
    reconcileRole(role, desired);
    expect(role.rules).toEqual([rule('list', 'core', 'nodes'), rule('get', 'core', 'pods')]);
    expect(role.metadata?.labels).toEqual({ 'orch.io/bootstrapping': 'mine', a: 'b' });
    expect(role.metadata?.annotations).toEqual(desired.metadata?.annotations);
    expect(role).not.toHaveProperty('aggregationRule');
  });
  it('adds aggregation selectors and keeps others and the rules', () => {
    const selector = (value: string) => ({ matchLabels: { value } });
    const role: ClusterRole = {
      metadata: { name: 'r' },
      rules: desired.rules!,
      aggregationRule: { clusterRoleSelectors: [selector('theirs')] },
    };
    const aggregate = {
      ...objectOf('ClusterRole', 'r'),
      aggregationRule: { clusterRoleSelectors: [selector('ours')] },
    };
    reconcileRole(role, aggregate);
    expect(role.aggregationRule?.clusterRoleSelectors).toEqual([
      selector('theirs'),
      selector('ours'),
    ]);
    expect(role.rules).toEqual(desired.rules);
  });
  it('changes nothing if nothing is missing', () => {
    const role = structuredClone(desired);
    reconcileRole(role, desired);
    expect(role).toEqual(desired);
  });
  it('adds subjects and keeps existing ones', () => {
    const binding: ClusterRoleBinding = bindingOf('ClusterRole', 'r', [user('u'), account('a')]);
    reconcileBinding(binding, bindingOf('ClusterRole', 'r', [account('a'), groupOf('g')]));
    expect(binding.subjects).toEqual([user('u'), account('a'), groupOf('g')]);
  });
  it('detects opted-out objects and changed role references', () => {
    const copy = structuredClone(desired);
    copy.metadata!.annotations![rbacAutoUpdateAnnotation()] = 'false';
    expect(isAutoUpdated(copy)).toBe(false);
    expect(isAutoUpdated({ metadata: { name: 'r' } })).toBe(true);
    const binding = bindingOf('ClusterRole', 'r', []);
    expect(isRoleRefChanged(binding, bindingOf('ClusterRole', 's', [], { name: 'r' }))).toBe(true);
    expect(isRoleRefChanged(binding, bindingOf('ClusterRole', 'r', [user('u')]))).toBe(false);
  });
});
