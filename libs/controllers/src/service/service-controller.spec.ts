import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resources } from '@orch/client';
import type { Service, ServiceSpec } from '@orch/types/core/v1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { serviceController } from './service-controller.js';

const finalizer = 'service.orch.io/load-balancer-cleanup';

describe('serviceController', () => {
  let directory: string;
  let harness: ControllerHarness;
  const services = () => harness.client.resource(resources.services, 'default');
  const create = (name: string, spec: ServiceSpec = {}) =>
    services().create({
      metadata: { name },
      spec: { type: 'LoadBalancer', clusterIP: '10.0.0.1', ports: [{ port: 80 }], ...spec },
    });
  const get = (name: string) => harness.server.get(resources.services, `default/${name}`);
  const addresses = (name: string) => get(name)?.status?.loadBalancer?.ingress?.map(({ ip }) => ip);
  const change = (name: string, edit: (service: Service) => Service) =>
    harness.server.change(resources.services, `default/${name}`, edit);
  const patch = async (name: string, spec: Partial<ServiceSpec>) => {
    await services().patch(name, { spec }, { type: 'merge' });
    await harness.settle();
  };

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-service-'));
    const file = join(directory, 'pool.yaml');
    writeFileSync(file, 'addresses: [192.0.2.1-192.0.2.2]');
    const flags = ['--cloud-provider=pool', `--cloud-config=${file}`];
    harness = new ControllerHarness([serviceController], { flags });
    await harness.start();
  });
  afterEach(async () => {
    await harness.stop();
    rmSync(directory, { recursive: true });
  });

  it('gives a service an address, a finalizer and events', async () => {
    await create('web');
    await create('internal', { type: 'ClusterIP' });
    await create('other', { loadBalancerClass: 'example.com/other' });
    await harness.settle();
    expect(addresses('web')).toEqual(['192.0.2.1']);
    expect(get('web')?.metadata?.finalizers).toEqual([finalizer]);
    expect([addresses('internal'), addresses('other')]).toEqual([undefined, undefined]);
    expect(harness.events()).toEqual([
      'EnsuringLoadBalancer: Ensuring load balancer',
      'EnsuredLoadBalancer: Ensured load balancer',
    ]);
  });

  it('removes the address before the service is deleted', async () => {
    await create('web');
    await harness.settle();
    await services().delete('web');
    await harness.settle();
    expect(get('web')).toBeUndefined();
    expect(harness.events().slice(2)).toEqual([
      'DeletingLoadBalancer: Deleting load balancer',
      'DeletedLoadBalancer: Deleted load balancer',
    ]);
  });

  it('removes the address when the type changes', async () => {
    await create('web');
    await harness.settle();
    await patch('web', { type: 'ClusterIP' });
    expect(addresses('web') ?? []).toEqual([]);
    expect(get('web')?.metadata?.finalizers ?? []).toEqual([]);
    expect(harness.events()).toContain('Type: LoadBalancer -> ClusterIP');
  });

  it('keeps addresses across a restart and does not give them to others', async () => {
    await create('one');
    await create('two');
    await harness.settle();
    const before = [addresses('one'), addresses('two')];
    await harness.stop();
    await services().delete('one');
    await create('a-new');
    await harness.start();
    expect(addresses('two')).toEqual(before[1]);
    expect(addresses('a-new')).toEqual(before[0]);
    expect(get('one')).toBeUndefined();
  });

  it('reports an exhausted pool and gives an address that becomes free immediately', async () => {
    for (const name of ['one', 'two', 'three']) {
      await create(name);
      await harness.settle();
    }
    expect(addresses('three')).toBeUndefined();
    expect(harness.events()).toContain(
      'SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: all addresses of the pool are in use',
    );
    await services().delete('two');
    await harness.settle();
    expect(addresses('three')).toEqual(['192.0.2.2']);
  });

  it('gives the requested address, and reports one that is not possible', async () => {
    await create('web', { loadBalancerIP: '192.0.2.2' });
    await create('same', { loadBalancerIP: '192.0.2.2' });
    await create('outside', { loadBalancerIP: '192.0.2.9' });
    await create('v6', { clusterIP: 'fd00::1' });
    await harness.settle();
    expect(addresses('web')).toEqual(['192.0.2.2']);
    const prefix =
      'SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: ';
    expect(harness.events()).toEqual(
      expect.arrayContaining([
        `${prefix}the address 192.0.2.2 belongs to service default/web`,
        `${prefix}the pool does not contain the address 192.0.2.9`,
        `${prefix}the pool has only IPv4 addresses, the service is an IPv6 one`,
      ]),
    );
    await patch('web', { loadBalancerIP: '192.0.2.1' });
    expect(addresses('web')).toEqual(['192.0.2.1']);
  });

  it('replaces an address that another service has', async () => {
    await create('one');
    await harness.settle();
    await harness.stop();
    await create('two');
    change('two', (service) => ({ ...service, status: get('one')?.status }));
    await harness.start();
    expect([addresses('one'), addresses('two')].sort()).toEqual([['192.0.2.1'], ['192.0.2.2']]);
  });

  it('repairs a status that another client changed, and writes nothing without a change', async () => {
    await create('web');
    await harness.settle();
    const other = { loadBalancer: { ingress: [{ ip: '192.0.2.2' }] } };
    for (const status of [{}, other]) {
      change('web', (service) => ({ ...service, status }));
      await harness.settle();
      expect(addresses('web')).toEqual(['192.0.2.1']);
    }
    const writes = () => harness.server.requests.filter(({ method }) => method !== 'GET').length;
    const before = writes();
    change('web', (service) => ({ ...service, spec: { ...service.spec, selector: { a: 'b' } } }));
    harness.clock.jump(86_400_000);
    await harness.advance(120_000);
    expect(writes()).toBe(before);
  });

  it('reads the newer service after a conflict', async () => {
    harness.server.interceptNext('PATCH', resources.services, () => {
      change('web', ({ metadata, ...service }) => ({
        ...service,
        metadata: { ...metadata, finalizers: ['example.com/mine'] },
      }));
    });
    await create('web');
    await harness.advance(2_000);
    expect(get('web')?.metadata?.finalizers).toEqual(['example.com/mine', finalizer]);
    expect(harness.events().some((event) => event.startsWith('SyncLoadBalancerFailed'))).toBe(
      false,
    );
  });
});
