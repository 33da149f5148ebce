import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod, service } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { endpointSliceController } from './endpoint-slice-controller.js';

describe('endpointSliceController', () => {
  let harness: ControllerHarness;
  const slices = () => harness.server.list(resources.endpointSlices);
  const sizes = () => slices().map(({ endpoints = [] }) => endpoints.length);
  const addPods = (...ids: number[]) => {
    for (const id of ids) {
      const labels = { app: 'web' };
      const facts = { name: `p${id}`, ip: `10.0.0.${id}`, labels, node: 'n' };
      harness.server.seed(resources.pods, pod(facts));
    }
  };
  const deletePod = (name: string) =>
    harness.client.resource(resources.pods, 'default').delete(name, { gracePeriodSeconds: 0 });
  const writes = () =>
    harness.server.requests.filter(
      ({ method, resource }) => method !== 'GET' && resource.plural === 'endpointslices',
    );
  const writeCount = () => writes().length;

  beforeEach(async () => {
    harness = new ControllerHarness([endpointSliceController], {
      flags: ['--max-endpoints-per-slice=3'],
    });
    const web = service({ ports: [{ port: 80 }], clusterIP: '10.96.0.1', ipFamilies: ['IPv4'] });
    harness.server.seed(resources.services, { ...web, metadata: { ...web.metadata, uid: 's' } });
    harness.server.seed(resources.nodes, { metadata: { name: 'n' } });
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('fills slices up to --max-endpoints-per-slice and deletes emptied ones', async () => {
    expect(sizes()).toEqual([0]);
    addPods(1, 2, 3);
    await harness.settle();
    addPods(4);
    await harness.settle();
    expect(sizes().sort()).toEqual([1, 3]);
    for (const { targetRef } of slices().find(({ endpoints }) => endpoints?.length === 1)
      ?.endpoints ?? []) {
      await deletePod(targetRef?.name ?? '');
    }
    await harness.settle();
    expect(sizes()).toEqual([3]);
  });

  it('writes one slice when one pod changes, and nothing on a restart', async () => {
    addPods(1, 2, 3, 4, 5, 6);
    await harness.settle();
    const before = writeCount();
    await deletePod('p2');
    await harness.settle();
    expect(writeCount()).toBe(before + 1);
    await harness.stop();
    await harness.start();
    expect(writeCount()).toBe(before + 1);
  });

  it('counts endpoints, slices and writes', async () => {
    addPods(1, 2, 3);
    await harness.settle();
    addPods(4);
    await harness.settle();
    await deletePod('p2');
    await harness.settle();
    const metrics = await harness.metrics.render();
    // The empty slice, and the one of the fourth pod.
    expect(metrics).toContain('endpoint_slice_controller_changes{operation="create"} 2\n');
    const updateCount = writes().filter(({ method }) => method === 'PUT').length;
    expect(updateCount).toBeGreaterThanOrEqual(2);
    expect(metrics).toContain(
      `endpoint_slice_controller_changes{operation="update"} ${updateCount}\n`,
    );
    expect(metrics).toContain('endpoint_slice_controller_endpoints_added_per_sync_sum 4\n');
    expect(metrics).toContain('endpoint_slice_controller_endpoints_removed_per_sync_sum 1\n');
    expect(metrics).toContain('endpoint_slice_controller_endpoints_desired 3\n');
    expect(metrics).toContain('endpoint_slice_controller_num_endpoint_slices 2\n');
    expect(metrics).toContain('endpoint_slice_controller_desired_endpoint_slices 1\n');
    await harness.client.resource(resources.services, 'default').delete('web');
    await harness.settle();
    const afterwards = await harness.metrics.render();
    expect(afterwards).toContain('endpoint_slice_controller_endpoints_desired 0\n');
    expect(afterwards).toContain('endpoint_slice_controller_num_endpoint_slices 0\n');
  });

  it('restores a slice that another writer changed or deleted', async () => {
    addPods(1);
    await harness.settle();
    const name = slices()[0]?.metadata?.name ?? '';
    const client = harness.client.resource(resources.endpointSlices, 'default');
    await client.patch(name, { endpoints: [] }, { type: 'merge' });
    await harness.settle();
    expect(sizes()).toEqual([1]);
    await client.delete(name);
    await harness.settle();
    expect(sizes()).toEqual([1]);
  });

  it('writes nothing for a pod on an unknown node, and continues when the node is created', async () => {
    const lost = pod({ name: 'lost', ip: '10.0.0.9', labels: { app: 'web' }, node: 'late' });
    harness.server.seed(resources.pods, lost);
    addPods(1);
    await harness.settle();
    expect(sizes()).toEqual([0]);
    expect(harness.events()).toContain(
      'FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service default/web: node "late" not found',
    );
    const labels = { 'topology.orch.io/zone': 'east' };
    harness.server.seed(resources.nodes, { metadata: { name: 'late', labels } });
    await harness.settle();
    expect(sizes()).toEqual([2]);
    expect(slices()[0]?.endpoints).toContainEqual(expect.objectContaining({ zone: 'east' }));
  });
});
