import { dialect } from '@orch/component';
import type { ClusterRole, ClusterRoleBinding } from '@orch/types/rbac.authorization/v1';
import { describe, expect, it } from 'vitest';
import { planBinding, planRole } from './reconcile-plan.js';

const optOut = () => ({ [dialect().key('autoupdate', 'rbac.authorization')]: 'false' });

function role(verbs: string[], more: ClusterRole = {}): ClusterRole {
  return {
    metadata: { name: 'r' },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
    ...more,
  };
}

describe('planRole', () => {
  it('adds missing rules and keeps others, unless they are to be removed', () => {
    const kept = planRole(role(['get', 'list']), role(['list', 'watch']), false);
    expect(kept).toMatchObject({ operation: 'update', removed: [] });
    expect(kept.added).toEqual([
      '{Verbs:[watch] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}',
    ]);
    expect(kept.object.rules).toHaveLength(2);
    const removed = planRole(role(['get', 'list']), role(['list', 'watch']), true);
    expect(removed.removed).toEqual([
      '{Verbs:[get] APIGroups:[] Resources:[pods] ResourceNames:[] NonResourceURLs:[]}',
    ]);
    expect(removed.object.rules).toEqual(role(['list', 'watch']).rules);
  });

  it('takes equal permissions in another form for no change', () => {
    const split = role(['get']);
    split.rules = [...role(['get']).rules!, ...role(['list']).rules!];
    for (const removeExtra of [false, true]) {
      expect(planRole(split, role(['list', 'get']), removeExtra).operation).toBe('none');
      expect(planRole(role(['*']), role(['*']), removeExtra).operation).toBe('none');
    }
  });

  it('keeps the rules of an aggregated role, which a controller writes', () => {
    const aggregationRule = (...names: string[]) => ({
      clusterRoleSelectors: names.map((name) => ({ matchLabels: { name } })),
    });
    const existing = role(['get'], { aggregationRule: aggregationRule('a', 'b') });
    const desired: ClusterRole = { metadata: { name: 'r' }, aggregationRule: aggregationRule('b') };
    expect(planRole(existing, desired, false).operation).toBe('none');
    const plan = planRole(existing, desired, true);
    expect(plan.object).toEqual({ ...existing, aggregationRule: aggregationRule('b') });
  });

  it('marks an object that opted out', () => {
    const existing = role(['get'], { metadata: { name: 'r', annotations: optOut() } });
    expect(planRole(existing, role(['list']), false)).toMatchObject({
      operation: 'update',
      isProtected: true,
    });
  });
});

describe('planBinding', () => {
  const apiGroup = () => dialect().group('rbac.authorization');
  const binding = (roleName: string, ...users: string[]): ClusterRoleBinding => ({
    metadata: { name: 'b' },
    roleRef: { apiGroup: apiGroup(), kind: 'ClusterRole', name: roleName },
    subjects: users.map((name) => ({ apiGroup: apiGroup(), kind: 'User', name })),
  });

  it('adds missing subjects and keeps others, unless they are to be removed', () => {
    const kept = planBinding(binding('r', 'ann', 'bob'), binding('r', 'bob', 'eve'), false);
    expect(kept.object.subjects).toEqual(binding('r', 'ann', 'bob', 'eve').subjects);
    expect(kept.added).toEqual([`{Kind:User APIGroup:${apiGroup()} Name:eve Namespace:}`]);
    const removed = planBinding(binding('r', 'ann', 'bob'), binding('r', 'bob', 'eve'), true);
    expect(removed.object.subjects).toEqual(binding('r', 'bob', 'eve').subjects);
    expect(removed.removed).toEqual([`{Kind:User APIGroup:${apiGroup()} Name:ann Namespace:}`]);
  });

  it('removes all subjects for a binding without any', () => {
    const plan = planBinding(binding('r', 'ann'), binding('r'), true);
    expect(plan).toMatchObject({ operation: 'update', object: { subjects: [] } });
    expect(planBinding(binding('r', 'ann'), binding('r'), false).operation).toBe('none');
  });

  it('compares subjects and roles with the groups that the server adds', () => {
    const { apiGroup: _group, ...roleRef } = binding('r').roleRef;
    const given = { ...binding('r'), roleRef, subjects: [{ kind: 'User', name: 'ann' }] };
    const plan = planBinding(binding('r', 'ann'), given as ClusterRoleBinding, true);
    expect(plan.operation).toBe('none');
  });

  it('creates a binding of another role again', () => {
    const plan = planBinding(binding('r', 'ann'), binding('other', 'bob'), false);
    expect(plan).toMatchObject({ operation: 'recreate', object: binding('other', 'bob') });
  });
});
