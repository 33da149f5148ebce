import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources } from '@orch/client';
import { afterEach, describe, expect, it } from 'vitest';
import { node } from '../../test/objects.js';
import { claim, storageClass, volume } from '../../test/volumes.js';
import { ControllerHarness } from '../testing/controller-harness.js';
import { volumeBinder } from './volume-binder-controller.js';

let harness: ControllerHarness;
afterEach(() => harness.stop());

const started = async (...flags: string[]) => {
  harness = new ControllerHarness([volumeBinder], { flags });
  await harness.start();
};
const { persistentVolumes, persistentVolumeClaims, storageClasses } = resources;
const volumeNamed = (name: string) => harness.server.get(persistentVolumes, name);
const claimNamed = (name: string) => harness.server.get(persistentVolumeClaims, `default/${name}`);
const deleteClaim = async (name: string) => {
  await harness.client.resource(persistentVolumeClaims, 'default').delete(name);
  await harness.settle();
};
const helpers = () => harness.server.list(resources.pods, 'orch-system');
const endHelpers = async (phase: 'Succeeded' | 'Failed') => {
  for (const { metadata } of helpers()) {
    const key = `${metadata?.namespace}/${metadata?.name}`;
    harness.server.change(resources.pods, key, (pod) => ({ ...pod, status: { phase } }));
  }
  await harness.settle();
};

describe('binding', () => {
  it('binds claim and volume to each other, and releases the volume with the claim', async () => {
    await started();
    harness.server.seed(persistentVolumes, volume('v', '5Gi'));
    await harness.settle();
    harness.server.seed(persistentVolumeClaims, claim('c', '2Gi'));
    await harness.settle();
    expect(claimNamed('c')).toMatchObject({
      metadata: {
        annotations: {
          'pv.orch.io/bind-completed': 'yes',
          'pv.orch.io/bound-by-controller': 'yes',
        },
      },
      spec: { volumeName: 'v' },
      status: { phase: 'Bound', capacity: { storage: '5Gi' }, accessModes: ['ReadWriteOnce'] },
    });
    expect(volumeNamed('v')).toMatchObject({
      spec: { claimRef: { namespace: 'default', name: 'c', uid: 'uid-c' } },
      status: { phase: 'Bound' },
    });
    await deleteClaim('c');
    expect(volumeNamed('v')?.status?.phase).toBe('Released');
    expect(volumeNamed('v')?.spec?.claimRef?.name).toBe('c');
  });

  it('gives two claims two volumes although another writer is faster', async () => {
    await started();
    for (const name of ['a', 'b']) harness.server.seed(persistentVolumes, volume(name));
    await harness.settle();
    harness.server.interceptNext('PUT', persistentVolumes, ({ body }) => {
      const { metadata } = body as { metadata: { name: string } };
      harness.server.change(persistentVolumes, metadata.name, (taken) => ({
        ...taken,
        spec: { ...taken.spec, claimRef: { namespace: 'default', name: 'other' } },
      }));
    });
    harness.server.seed(persistentVolumeClaims, claim('c'));
    await harness.advance(2_000);
    harness.server.seed(persistentVolumeClaims, claim('other'));
    await harness.advance(2_000);
    const bound = ['c', 'other'].map((name) => claimNamed(name)?.spec?.volumeName);
    expect(bound.sort()).toEqual(['a', 'b']);
  });

  it('leaves a claim pending with the reason, until a volume appears', async () => {
    await started('--pvclaimbinder-sync-period=2s');
    harness.server.seed(persistentVolumeClaims, claim('c'));
    harness.server.seed(persistentVolumeClaims, claim('d', '1Gi', { storageClassName: '' }));
    await harness.settle();
    expect(claimNamed('c')?.status?.phase).toBe('Pending');
    expect(harness.events()).toContain(
      'ProvisioningFailed: storageclass.storage.orch.io "slow" not found',
    );
    harness.server.seed(persistentVolumes, volume('v'));
    await harness.advance(4_000);
    expect(claimNamed('c')?.status?.phase).toBe('Bound');
    expect(harness.events().join()).toContain('FailedBinding: no persistent volumes available');
  });

  it('reports a bound claim whose volume was deleted as lost', async () => {
    await started();
    harness.server.seed(persistentVolumes, volume('v'));
    await harness.settle();
    harness.server.seed(persistentVolumeClaims, claim('c'));
    await harness.settle();
    await harness.client.resource(persistentVolumes).delete('v');
    await harness.settle();
    expect(claimNamed('c')?.status?.phase).toBe('Lost');
    expect(harness.events().filter((text) => text.startsWith('ClaimLost'))).toHaveLength(1);
  });
});

describe('provisioning', () => {
  const seedClass = (parameters: Record<string, string> = { nodePath: '/srv/volumes' }) =>
    harness.server.seed(
      storageClasses,
      storageClass('slow', 'orch.io/local-path', {
        parameters,
        volumeBindingMode: 'WaitForFirstConsumer',
      }),
    );
  const selected = (name: string) =>
    claim('c', '1Gi', {}, { 'volume.orch.io/selected-node': name });

  it('creates a directory volume on the selected node, and deletes it with its claim', async () => {
    await started();
    harness.server.seed(resources.nodes, node('n', { labels: { 'orch.io/hostname': 'host-n' } }));
    seedClass();
    harness.server.seed(persistentVolumeClaims, selected('n'));
    await harness.settle();
    expect(volumeNamed('pvc-uid-c')?.spec).toMatchObject({
      hostPath: { path: '/srv/volumes/pvc-uid-c', type: 'DirectoryOrCreate' },
      persistentVolumeReclaimPolicy: 'Delete',
    });
    expect(claimNamed('c')?.status?.phase).toBe('Bound');
    await deleteClaim('c');
    const [helper] = helpers();
    expect(helper?.spec?.volumes?.[0]?.hostPath?.path).toBe('/srv/volumes');
    expect(helper?.spec?.containers?.[0]?.command?.at(-1)).toBe('pvc-uid-c');
    expect(JSON.stringify(helper?.spec?.affinity)).toContain('host-n');
    expect(helper?.metadata?.ownerReferences?.[0]?.name).toBe('pvc-uid-c');
    await endHelpers('Failed');
    expect(volumeNamed('pvc-uid-c')?.status?.phase).toBe('Failed');
    await harness.advance(16_000);
    await endHelpers('Succeeded');
    expect(harness.names(persistentVolumes)).toEqual([]);
    expect(helpers()).toEqual([]);
  });

  it('has the scheduler select another node if the node is gone', async () => {
    await started();
    seedClass();
    harness.server.seed(persistentVolumeClaims, selected('gone'));
    await harness.settle();
    expect(claimNamed('c')?.metadata?.annotations).not.toHaveProperty(
      'volume.orch.io/selected-node',
    );
    expect(harness.events()).toContain('ProvisioningFailed: node "gone" not found');
  });

  it.each([{}, { nodePath: '/' }, { nodePath: 'relative' }, { nodePath: '/a/../b' }])(
    'refuses the parameters %j',
    async (parameters) => {
      await started();
      seedClass(parameters as Record<string, string>);
      harness.server.seed(persistentVolumeClaims, selected('n'));
      await harness.settle();
      expect(harness.names(persistentVolumes)).toEqual([]);
      expect(harness.events().join()).toContain('parameter "nodePath" of the class must be');
    },
  );

  it('leaves other classes to their provisioners, unless provisioning is off', async () => {
    await started();
    harness.server.seed(storageClasses, storageClass('slow', 'disk.example.com'));
    harness.server.seed(persistentVolumeClaims, claim('c'));
    await harness.settle();
    const provisioner = { 'volume.beta.orch.io/storage-provisioner': 'disk.example.com' };
    expect(claimNamed('c')?.metadata?.annotations).toMatchObject(provisioner);
    await harness.stop();
    await started('--enable-dynamic-provisioning=false');
    harness.server.seed(storageClasses, storageClass('slow', 'disk.example.com'));
    harness.server.seed(persistentVolumeClaims, claim('c'));
    await harness.settle();
    expect(claimNamed('c')?.metadata?.annotations).toEqual({});
  });
});

describe('reclaiming', () => {
  const released = (name: string, spec: Parameters<typeof volume>[2]) =>
    volume(name, '1Gi', {
      claimRef: { namespace: 'default', name: 'gone', uid: `uid-gone-${name}` },
      ...spec,
    });

  it('deletes nothing while the API server has the claim, although the cache does not', async () => {
    await started();
    const path = mkdtempSync('/tmp/orch-reclaim-');
    harness.server.interceptNext('GET', persistentVolumeClaims, () => {
      const late = claim('gone', '1Gi', { volumeName: 'v' });
      harness.server.seed(persistentVolumeClaims, {
        ...late,
        metadata: { ...late.metadata, uid: 'uid-gone-v' },
      });
    });
    const spec = { nfs: undefined, hostPath: { path } };
    harness.server.seed(
      persistentVolumes,
      released('v', { ...spec, persistentVolumeReclaimPolicy: 'Delete' }),
    );
    await harness.settle();
    expect(harness.names(persistentVolumes)).toEqual(['v']);
    rmSync(path, { recursive: true });
  });

  it('releases a volume that a user has deleted, and deletes no data', async () => {
    await started();
    const deleted = released('v', { persistentVolumeReclaimPolicy: 'Recycle' });
    Object.assign(deleted.metadata!, { deletionTimestamp: '2021-06-01T00:00:00Z' });
    deleted.metadata!.finalizers = ['orch.io/pv-protection'];
    harness.server.seed(persistentVolumes, deleted);
    await harness.settle();
    expect(volumeNamed('v')?.status?.phase).toBe('Released');
    expect(helpers()).toEqual([]);
  });

  it('reports a volume that nothing can delete', async () => {
    await started();
    harness.server.seed(
      persistentVolumes,
      released('v', { persistentVolumeReclaimPolicy: 'Delete' }),
    );
    await harness.settle();
    expect(volumeNamed('v')?.status?.phase).toBe('Failed');
    expect(harness.events().join()).toContain('VolumeFailedDelete');
  });

  it('leaves volumes of external provisioners to them', async () => {
    await started();
    const external = released('v', { persistentVolumeReclaimPolicy: 'Delete' });
    external.metadata!.annotations = { 'pv.orch.io/provisioned-by': 'disk.example.com' };
    harness.server.seed(persistentVolumes, external);
    await harness.settle();
    expect(volumeNamed('v')?.status?.phase).toBe('Released');
    const requestCount = harness.server.requests.length;
    await harness.advance(60_000);
    expect(harness.server.requests).toHaveLength(requestCount);
  });

  it('recycles a volume with a pod, and offers it again', async () => {
    await started('--pv-recycler-minimum-timeout-nfs=7', '--pv-recycler-increment-timeout-nfs=5');
    harness.server.seed(
      persistentVolumes,
      released('v', { persistentVolumeReclaimPolicy: 'Recycle' }),
    );
    await harness.settle();
    const [helper] = helpers();
    expect(helper?.spec).toMatchObject({
      activeDeadlineSeconds: 7,
      volumes: [{ name: 'vol', nfs: { server: '192.0.2.1' } }],
    });
    expect(volumeNamed('v')?.status?.phase).toBe('Released');
    await endHelpers('Succeeded');
    expect(volumeNamed('v')?.status?.phase).toBe('Available');
    expect(volumeNamed('v')?.spec?.claimRef?.uid).toBeUndefined();
  });

  it('follows no link out of /tmp', async () => {
    await started();
    const directory = mkdtempSync('/tmp/orch-reclaim-');
    const inside = join(directory, 'inside');
    mkdirSync(inside);
    writeFileSync(join(inside, 'file'), '');
    symlinkSync('/usr', join(directory, 'link'));
    const policy = { nfs: undefined, persistentVolumeReclaimPolicy: 'Delete' as const };
    for (const [name, path] of [
      ['inside', inside],
      ['link', join(directory, 'link', 'orch-never')],
    ] as const) {
      harness.server.seed(persistentVolumes, released(name, { ...policy, hostPath: { path } }));
    }
    await expect.poll(() => harness.names(persistentVolumes)).toEqual(['link']);
    await expect.poll(() => volumeNamed('link')?.status?.phase).toBe('Failed');
    expect(existsSync(inside)).toBe(false);
    rmSync(directory, { recursive: true });
  });
});
