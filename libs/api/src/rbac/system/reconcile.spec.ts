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
import { bindsOther, isReconciled, reconcileBinding, reconcileRole } from './reconcile.js';
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
  it('know subresources held for all resources, and addresses by their beginning', () => {
    const held = [rule('get', '*', '*/scale'), urls('get', '/api/*')];
    expect(missingRules(held, [rule('get', 'apps', 'deployments/scale')])).toEqual([]);
    expect(missingRules(held, [rule('get', 'apps', 'deployments')])).toHaveLength(1);
    expect(missingRules(held, [urls('get', '/api/v1')])).toEqual([]);
    expect(missingRules(held, [urls('get', '/apis')])).toEqual([urls('get', '/apis')]);
  });
  it('of names are those that are not held', () => {
    const wanted = [rule('get', 'core', 'secrets', ['a', 'b'])];
    expect(missingRules([rule('get', 'core', 'secrets', ['a'])], wanted)).toEqual([
      rule('get', 'core', 'secrets', ['b']),
    ]);
    expect(missingRules([rule('get', 'core', 'secrets')], wanted)).toEqual([]);
  });
});

describe('reconciling', () => {
  const wanted: ClusterRole = {
    ...objectOf('ClusterRole', 'r'),
    rules: [rule('get', 'core', 'pods')],
  };

  it('adds rules, labels and annotations, and keeps what others have set', () => {
    const role: ClusterRole = {
      metadata: { name: 'r', labels: { 'orch.io/bootstrapping': 'mine', a: 'b' } },
      rules: [rule('list', 'core', 'nodes')],
      aggregationRule: { clusterRoleSelectors: [{}] },
    };
    reconcileRole(role, wanted);
    expect(role.rules).toEqual([rule('list', 'core', 'nodes'), rule('get', 'core', 'pods')]);
    expect(role.metadata?.labels).toEqual({ 'orch.io/bootstrapping': 'mine', a: 'b' });
    expect(role.metadata?.annotations).toEqual(wanted.metadata?.annotations);
    expect(role).not.toHaveProperty('aggregationRule');
  });
  it('adds the selectors of an aggregate and keeps others and the rules', () => {
    const selector = (value: string) => ({ matchLabels: { value } });
    const role: ClusterRole = {
      metadata: { name: 'r' },
      rules: wanted.rules!,
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
    expect(role.rules).toEqual(wanted.rules);
  });
  it('changes nothing where nothing is missing', () => {
    const role = structuredClone(wanted);
    reconcileRole(role, wanted);
    expect(role).toEqual(wanted);
  });
  it('adds subjects and keeps those of others', () => {
    const binding: ClusterRoleBinding = bindingOf('ClusterRole', 'r', [user('u'), account('a')]);
    reconcileBinding(binding, bindingOf('ClusterRole', 'r', [account('a'), groupOf('g')]));
    expect(binding.subjects).toEqual([user('u'), account('a'), groupOf('g')]);
  });
  it('tells what an operator keeps and what gives another role', () => {
    const kept = structuredClone(wanted);
    kept.metadata!.annotations![rbacAutoUpdateAnnotation()] = 'false';
    expect(isReconciled(kept)).toBe(false);
    expect(isReconciled({ metadata: { name: 'r' } })).toBe(true);
    const binding = bindingOf('ClusterRole', 'r', []);
    expect(bindsOther(binding, bindingOf('ClusterRole', 's', [], { name: 'r' }))).toBe(true);
    expect(bindsOther(binding, bindingOf('ClusterRole', 'r', [user('u')]))).toBe(false);
  });
});
