import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { resourceQuotaController } from './resource-quota-controller.js';

describe('resourceQuotaController', () => {
  let harness: ControllerHarness;
  const used = () => harness.server.get(resources.resourceQuotas, 'default/small')?.status?.used;

  beforeEach(async () => {
    harness = new ControllerHarness([resourceQuotaController]);
    harness.server.seed(resources.resourceQuotas, {
      metadata: { name: 'small', namespace: 'default' },
      spec: { hard: { pods: '5', 'count/configmaps': '9' } },
    });
    for (const name of ['a', 'b']) harness.server.seed(resources.pods, pod({ name }));
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('counts existing objects and releases deleted ones', async () => {
    expect(used()).toEqual({ pods: '2', 'count/configmaps': '0' });
    await harness.client.resource(resources.pods, 'default').delete('a');
    await harness.advance(1_000);
    expect(used()).toMatchObject({ pods: '1' });
  });

  it('recounts when the quota changes', async () => {
    const quotas = harness.client.resource(resources.resourceQuotas, 'default');
    await quotas.patch('small', { spec: { hard: { services: '1' } } }, { type: 'merge' });
    await harness.settle();
    expect(used()).toMatchObject({ pods: '2', services: '0' });
  });

  it('recounts after a conflict with a charge of the API server', async () => {
    harness.server.interceptNext('PUT', resources.resourceQuotas, () => {
      harness.server.change(resources.resourceQuotas, 'default/small', (quota) => ({
        ...quota,
        status: { ...quota.status, used: { pods: '3', 'count/configmaps': '0' } },
      }));
    });
    await harness.client.resource(resources.pods, 'default').delete('a');
    await harness.advance(5_000);
    expect(used()).toMatchObject({ pods: '1' });
  });

  it('releases deletions that happened while it was stopped', async () => {
    await harness.stop();
    await harness.client.resource(resources.pods, 'default').delete('a');
    await harness.start();
    expect(used()).toMatchObject({ pods: '1' });
  });
});

it('does not count a resource as missing whose group was not discovered', async () => {
  const harness = new ControllerHarness([resourceQuotaController]);
  harness.server.seed(resources.resourceQuotas, {
    metadata: { name: 'maps', namespace: 'default' },
    spec: { hard: { 'count/configmaps': '9' } },
  });
  harness.server.served.set('/api/v1', () => {
    throw new Error('overloaded');
  });
  await harness.start();
  const status = () => harness.server.get(resources.resourceQuotas, 'default/maps')?.status;
  expect(status()).toBeUndefined();
  harness.server.served.delete('/api/v1');
  await harness.advance(5_000);
  expect(status()?.used).toEqual({ 'count/configmaps': '0' });
  await harness.stop();
});

it('counts objects of a kind within two seconds of its definition', async () => {
  const harness = new ControllerHarness([resourceQuotaController]);
  harness.server.seed(resources.resourceQuotas, {
    metadata: { name: 'widgets', namespace: 'default' },
    spec: { hard: { 'count/widgets.example.com': '3' } },
  });
  await harness.start();
  const used = () => harness.server.get(resources.resourceQuotas, 'default/widgets')?.status?.used;
  expect(used()).toEqual({});
  const all = (await harness.client.request('GET', '/apis')).json<{ groups: object[] }>();
  const group = { name: 'example.com', versions: [{ version: 'v1' }] };
  const widgets = { name: 'widgets', kind: 'Widget', namespaced: true, verbs: ['list'] };
  const path = '/apis/example.com/v1';
  harness.server.served.set('/apis', () => ({ groups: [...all.groups, group] }));
  harness.server.served.set(path, () => ({ resources: [widgets] }));
  harness.server.served.set(`${path}/namespaces/default/widgets`, () => ({
    metadata: {},
    items: [{ metadata: { name: 'one' } }],
  }));
  harness.server.seed(resources.customResourceDefinitions, {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [],
    },
  });
  await harness.advance(2_000);
  expect(used()).toEqual({ 'count/widgets.example.com': '1' });
  await harness.stop();
});
