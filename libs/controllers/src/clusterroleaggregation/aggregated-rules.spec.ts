import type { ClusterRole } from '@orch/types/rbac.authorization/v1';
import { describe, expect, it } from 'vitest';
import { aggregatedRules } from './aggregated-rules.js';

const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });

function role(name: string, labels: Record<string, string>, ...resources: string[]): ClusterRole {
  return { metadata: { name, labels }, rules: resources.map(rule) };
}

function aggregate(...selectors: Record<string, string>[]): ClusterRole {
  return {
    metadata: { name: 'sum', labels: { to: 'sum' } },
    rules: [rule('stale')],
    aggregationRule: { clusterRoleSelectors: selectors.map((matchLabels) => ({ matchLabels })) },
  };
}

describe('the rules of an aggregated role', () => {
  it('are those of the chosen roles by name, each once, and none of its own', () => {
    const sum = aggregate({ to: 'sum' });
    const roles = [
      role('b', { to: 'sum' }, 'pods', 'nodes'),
      sum,
      role('a', { to: 'sum' }, 'secrets', 'pods'),
      role('c', { to: 'other' }, 'events'),
    ];
    expect(aggregatedRules(sum, roles)).toEqual([rule('secrets'), rule('pods'), rule('nodes')]);
  });
  it('come selector by selector', () => {
    const roles = [role('a', { to: 'second' }, 'pods'), role('b', { to: 'first' }, 'nodes')];
    expect(aggregatedRules(aggregate({ to: 'first' }, { to: 'second' }), roles)).toEqual([
      rule('nodes'),
      rule('pods'),
    ]);
  });
  it('aggregate no rules if no role is selected', () => {
    expect(aggregatedRules(aggregate({ to: 'nobody' }), [role('a', {}, 'pods')])).toEqual([]);
  });
});
