import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { endpointSliceMirroringController } from './endpoint-slice-mirroring-controller.js';

const metadata = { name: 'web', namespace: 'default' };
const subset = (...ips: string[]) => ({
  addresses: ips.map((ip) => ({ ip })),
  ports: [{ port: 80 }],
});

describe('endpointSliceMirroringController', () => {
  let harness: ControllerHarness;
  const mirrored = () =>
    harness.server
      .list(resources.endpointSlices)
      .map(({ endpoints = [] }) => endpoints.flatMap(({ addresses }) => addresses));
  const endpoints = () => harness.client.resource(resources.endpoints, 'default');
  const services = () => harness.client.resource(resources.services, 'default');

  beforeEach(async () => {
    harness = new ControllerHarness([endpointSliceMirroringController], {
      flags: ['--mirroring-max-endpoints-per-subset=2'],
    });
    harness.server.seed(resources.services, { metadata, spec: { ports: [{ port: 80 }] } });
    harness.server.seed(resources.endpoints, { metadata, subsets: [subset('192.0.2.1')] });
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('follows changes of the Endpoints and deletes the slices with them', async () => {
    expect(mirrored()).toEqual([['192.0.2.1']]);
    await endpoints().patch('web', { subsets: [subset('192.0.2.2')] }, { type: 'merge' });
    await harness.settle();
    expect(mirrored()).toEqual([['192.0.2.2']]);
    await endpoints().delete('web');
    await harness.settle();
    expect(mirrored()).toEqual([]);
  });

  it('reports addresses above --mirroring-max-endpoints-per-subset', async () => {
    const all = subset('192.0.2.1', '192.0.2.2', '192.0.2.3');
    await endpoints().patch('web', { subsets: [all] }, { type: 'merge' });
    await harness.settle();
    expect(mirrored()).toEqual([['192.0.2.1', '192.0.2.2']]);
    expect(harness.events()).toContain(
      'TooManyAddressesToMirror: A max of 2 addresses can be mirrored to EndpointSlices per Endpoints subset. 1 addresses were skipped',
    );
  });

  it('counts endpoints, slices, skipped addresses and writes', async () => {
    const named = { ...subset('192.0.2.1', '192.0.2.2', '192.0.2.3') };
    named.addresses = named.addresses.map((address) => ({ ...address, nodeName: 'n' }));
    await endpoints().patch('web', { subsets: [named] }, { type: 'merge' });
    await harness.settle();
    const hidden = { ...named, notReadyAddresses: named.addresses, addresses: [] };
    await endpoints().patch('web', { subsets: [hidden] }, { type: 'merge' });
    await harness.settle();
    const name = (suffix: string) => `endpoint_slice_mirroring_controller_${suffix}\n`;
    const metrics = await harness.metrics.render();
    expect(metrics).toContain(name('changes{operation="create"} 1'));
    expect(metrics).toContain(name('changes{operation="update"} 2'));
    // The node is part of the identity of an endpoint, its readiness is not.
    expect(metrics).toContain(name('endpoints_added_per_sync_sum 3'));
    expect(metrics).toContain(name('endpoints_removed_per_sync_sum 1'));
    expect(metrics).toContain(name('endpoints_updated_per_sync_sum 2'));
    expect(metrics).toMatch(/_addresses_skipped_per_sync_sum [1-9]/);
    expect(metrics).toMatch(/_endpoints_sync_duration_count [1-9]/);
    expect(metrics).toContain(name('endpoints_desired 2'));
    expect(metrics).toContain(name('num_endpoint_slices 1'));
    expect(metrics).toContain(name('desired_endpoint_slices 1'));
    await endpoints().delete('web');
    await harness.settle();
    const afterwards = await harness.metrics.render();
    expect(afterwards).toContain(name('changes{operation="delete"} 1'));
    expect(afterwards).toContain(name('endpoints_desired 0'));
  });

  it('deletes the slices when the service is deleted or the Endpoints are excluded', async () => {
    const skip = { 'endpointslice.orch.io/skip-mirror': 'true' };
    await endpoints().patch('web', { metadata: { labels: skip } }, { type: 'merge' });
    await harness.settle();
    expect(mirrored()).toEqual([]);
    await endpoints().patch('web', { metadata: { labels: null } }, { type: 'merge' });
    await harness.settle();
    expect(mirrored()).toHaveLength(1);
    await services().delete('web');
    await harness.settle();
    expect(mirrored()).toEqual([]);
  });

  it('deletes slices whose Endpoints were deleted while it was stopped', async () => {
    await harness.stop();
    await endpoints().delete('web');
    await harness.start();
    expect(mirrored()).toEqual([]);
  });

  it('leaves mirrored slices as they are when the service gets a selector', async () => {
    await services().patch('web', { spec: { selector: { app: 'web' } } }, { type: 'merge' });
    await endpoints().patch('web', { subsets: [subset('192.0.2.2')] }, { type: 'merge' });
    await harness.settle();
    expect(mirrored()).toEqual([['192.0.2.1']]);
  });
});
