import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod, service } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { endpointsController } from './endpoints-controller.js';

describe('endpointsController', () => {
  let harness: ControllerHarness;
  const endpoints = () => harness.server.get(resources.endpoints, 'default/web');
  const addresses = () =>
    (endpoints()?.subsets ?? []).flatMap((subset) => subset.addresses ?? []).map(({ ip }) => ip);
  const addPod = (name: string, ip: string) =>
    harness.server.seed(resources.pods, pod({ name, ip, labels: { app: 'web' }, node: 'n' }));

  beforeEach(async () => {
    harness = new ControllerHarness([endpointsController]);
    harness.server.seed(resources.services, service({ ports: [{ port: 80 }] }));
    addPod('a', '10.0.0.1');
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('writes the addresses of ready pods as they appear and disappear', async () => {
    expect(addresses()).toEqual(['10.0.0.1']);
    addPod('b', '10.0.0.2');
    await harness.settle();
    expect(addresses()).toEqual(['10.0.0.1', '10.0.0.2']);
    await harness.client.resource(resources.pods, 'default').delete('a', { gracePeriodSeconds: 0 });
    await harness.settle();
    expect(addresses()).toEqual(['10.0.0.2']);
  });

  it('overwrites a change of another writer, also one that conflicts with its own write', async () => {
    harness.server.interceptNext('PUT', resources.endpoints, () => {
      harness.server.change(resources.endpoints, 'default/web', (object) => ({
        ...object,
        subsets: [],
      }));
    });
    addPod('b', '10.0.0.2');
    await harness.settle();
    await harness.advance(1_000);
    expect(addresses()).toEqual(['10.0.0.1', '10.0.0.2']);
  });

  it('deletes the Endpoints of a service that was deleted while it was stopped', async () => {
    await harness.stop();
    await harness.client.resource(resources.services, 'default').delete('web');
    await harness.start();
    expect(endpoints()).toBeUndefined();
  });
});
