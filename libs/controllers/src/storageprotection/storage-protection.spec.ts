import { resources } from '@orch/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pod } from '../../test/objects.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { claimProtection, volumeProtection } from './storage-protection.js';

describe('claimProtection and volumeProtection', () => {
  let harness: ControllerHarness;
  const claims = () => harness.names(resources.persistentVolumeClaims);
  const deleteClaim = async () => {
    await harness.client.resource(resources.persistentVolumeClaims, 'default').delete('data');
    await harness.settle();
  };

  beforeEach(async () => {
    harness = new ControllerHarness([claimProtection, volumeProtection]);
    harness.server.seed(resources.persistentVolumeClaims, {
      metadata: { name: 'data', namespace: 'default' },
    });
    await harness.start();
  });
  afterEach(() => harness.stop());

  it('retains a deleted claim until the last pod that uses it is deleted', async () => {
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }];
    harness.server.seed(resources.pods, pod({ name: 'user', node: 'n', spec: { volumes } }));
    await harness.settle();
    await deleteClaim();
    expect(claims()).toEqual(['data']);
    await harness.client.resource(resources.pods, 'default').delete('user', {
      gracePeriodSeconds: 0,
    });
    await harness.settle();
    expect(claims()).toEqual([]);
  });

  it('releases an unused claim immediately, also after a conflict', async () => {
    harness.server.interceptNext('PUT', resources.persistentVolumeClaims, () => {
      harness.server.change(resources.persistentVolumeClaims, 'default/data', (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { app: 'db' } },
      }));
    });
    await deleteClaim();
    expect(claims()).toEqual([]);
  });

  it('retains a deleted volume while it is bound', async () => {
    harness.server.seed(resources.persistentVolumes, {
      metadata: { name: 'disk' },
      status: { phase: 'Bound' },
    });
    await harness.settle();
    await harness.client.resource(resources.persistentVolumes).delete('disk');
    await harness.settle();
    expect(harness.names(resources.persistentVolumes)).toEqual(['disk']);
    harness.server.change(resources.persistentVolumes, 'disk', (volume) => ({
      ...volume,
      status: { phase: 'Released' },
    }));
    await harness.settle();
    expect(harness.names(resources.persistentVolumes)).toEqual([]);
  });
});
