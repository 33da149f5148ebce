import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { clusterRoleAggregationController } from './cluster-role-aggregation-controller.js';

describe('clusterRoleAggregationController', () => {
  let harness: ControllerHarness;
  const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
  const seedRole = (name: string, resource: string) =>
    harness.server.seed(resources.clusterRoles, {
      metadata: { name, labels: { aggregate: 'view' } },
      rules: [rule(resource)],
    });
  const viewRules = () => harness.server.get(resources.clusterRoles, 'view')?.rules;

  beforeEach(async () => {
    harness = new ControllerHarness([clusterRoleAggregationController]);
    harness.server.seed(resources.clusterRoles, {
      metadata: { name: 'view' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { aggregate: 'view' } }] },
      rules: [],
    });
    seedRole('pods', 'pods');
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('aggregates the rules of selected roles as they appear and disappear', async () => {
    expect(viewRules()).toEqual([rule('pods')]);
    seedRole('secrets', 'secrets');
    await harness.settle();
    expect(viewRules()).toEqual([rule('pods'), rule('secrets')]);
    await harness.client.resource(resources.clusterRoles).delete('pods');
    await harness.settle();
    expect(viewRules()).toEqual([rule('secrets')]);
  });

  it('stops writing when roles aggregate each other and themselves', async () => {
    const seedCycle = (name: string, selected: string) =>
      harness.server.seed(resources.clusterRoles, {
        metadata: { name, labels: { cycle: name, all: 'yes' } },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { cycle: selected } }] },
        rules: [],
      });
    seedCycle('first', 'second');
    seedCycle('second', 'first');
    harness.server.seed(resources.clusterRoles, {
      metadata: { name: 'secrets', labels: { cycle: 'first' } },
      rules: [rule('secrets')],
    });
    harness.server.seed(resources.clusterRoles, {
      metadata: { name: 'itself', labels: { cycle: 'first' } },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { cycle: 'first' } }] },
      rules: [],
    });
    await harness.settle();
    const rulesOf = (name: string) => harness.server.get(resources.clusterRoles, name)?.rules;
    for (const name of ['first', 'second', 'itself']) {
      expect(rulesOf(name), name).toEqual([rule('secrets')]);
    }
    const versionOf = () =>
      harness.server.get(resources.clusterRoles, 'first')?.metadata?.resourceVersion;
    const version = versionOf();
    await harness.settle();
    expect(versionOf()).toBe(version);
  });

  it('removes rules that a user adds, also if they conflict with its own write', async () => {
    harness.server.interceptNext('PUT', resources.clusterRoles, () => {
      harness.server.change(resources.clusterRoles, 'view', (role) => ({
        ...role,
        rules: [rule('nodes')],
      }));
    });
    seedRole('secrets', 'secrets');
    await harness.settle();
    expect(viewRules()).toEqual([rule('pods'), rule('secrets')]);
  });
});
