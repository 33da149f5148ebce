import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerHarness } from '../testing/controller-harness.js';
import { namespaceController } from './namespace-controller.js';

describe('namespaceController', () => {
  let harness: ControllerHarness;
  const deleteNamespace = async () => {
    await harness.client.resource(resources.namespaces).delete('shop');
    await harness.settle();
  };
  const seedConfigMap = (finalizers: string[] = []) =>
    harness.server.seed(resources.configMaps, {
      metadata: { name: 'settings', namespace: 'shop', finalizers },
    });
  const condition = (type: string) =>
    harness.server
      .get(resources.namespaces, 'shop')
      ?.status?.conditions?.find((one) => one.type === type);

  beforeEach(async () => {
    harness = new ControllerHarness([namespaceController]);
    harness.server.seed(resources.namespaces, { metadata: { name: 'shop' } });
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('deletes the content of a deleted namespace, then the namespace', async () => {
    seedConfigMap();
    harness.server.seed(resources.secrets, { metadata: { name: 'keys', namespace: 'shop' } });
    await deleteNamespace();
    expect(harness.names(resources.configMaps, 'shop')).toEqual([]);
    expect(harness.names(resources.secrets, 'shop')).toEqual([]);
    expect(harness.names(resources.namespaces)).toEqual(['default']);
  });

  it('reports content that waits for a finalizer, and completes when that is removed', async () => {
    seedConfigMap(['example.com/hold']);
    await deleteNamespace();
    expect(condition('NamespaceFinalizersRemaining')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('example.com/hold in 1 resource instances'),
    });
    const configMaps = harness.client.resource(resources.configMaps, 'shop');
    await configMaps.patch('settings', { metadata: { finalizers: null } }, { type: 'merge' });
    await harness.advance(20_000);
    expect(harness.names(resources.namespaces)).toEqual(['default']);
  });

  it('completes a deletion that began before a restart', async () => {
    seedConfigMap();
    await harness.stop();
    await harness.client.resource(resources.namespaces).delete('shop');
    await harness.start();
    expect(harness.names(resources.namespaces)).toEqual(['default']);
  });

  it('finalizes again after a conflict', async () => {
    harness.server.interceptNext('PUT', resources.namespaces, () => {
      harness.server.change(resources.namespaces, 'shop', (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { team: 'a' } },
      }));
    });
    await deleteNamespace();
    await harness.advance(1_000);
    expect(harness.names(resources.namespaces)).toEqual(['default']);
  });
});
