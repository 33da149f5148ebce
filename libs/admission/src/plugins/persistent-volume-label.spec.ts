import { dialect } from '@orch/component';
import type { PersistentVolume } from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { admit, refusalOf } from '../testing/admit.js';
import { persistentVolumeLabel } from './persistent-volume-label.js';

const admitting = { rules: [persistentVolumeLabel], plural: 'persistentvolumes' };
const zone = () => dialect().key('zone', 'topology');
const region = () => dialect().key('region', 'topology');

const provisioned = (spec: PersistentVolume['spec']): PersistentVolume => ({
  metadata: {
    name: 'v',
    annotations: { [dialect().key('provisioned-by', 'pv')]: 'x' },
    labels: { [zone()]: 'b__a', [region()]: 'r' },
  },
  spec,
});

describe('PersistentVolumeLabel', () => {
  it('restricts provisioned volumes to their zones and region', async () => {
    const volume = provisioned({ hostPath: { path: '/a' } });
    await admit(volume, admitting);
    expect(volume.spec?.nodeAffinity?.required?.nodeSelectorTerms).toEqual([
      {
        matchExpressions: [
          { key: zone(), operator: 'In', values: ['a', 'b'] },
          { key: region(), operator: 'In', values: ['r'] },
        ],
      },
    ]);
  });

  it('leaves an affinity that names the zone unchanged', async () => {
    const terms = [{ matchExpressions: [{ key: zone(), operator: 'Exists' }] }];
    const nodeAffinity = { required: { nodeSelectorTerms: terms } };
    const volume = provisioned({ hostPath: { path: '/a' }, nodeAffinity });
    await admit(volume, admitting);
    expect(volume.spec?.nodeAffinity).toEqual(nodeAffinity);
  });

  it('rejects disks of clouds, except disks that are being provisioned', async () => {
    const disk = (volumeID: string) => ({
      metadata: { name: 'v' },
      spec: { awsElasticBlockStore: { volumeID } },
    });
    expect(await refusalOf(admit(disk('vol-1'), admitting))).toBe(
      'persistentvolumes "v" is forbidden: error querying AWS EBS volume vol-1: unable to build AWS cloud provider for EBS',
    );
    const pending = admit(disk('placeholder-for-provisioning'), admitting);
    await expect(pending).resolves.toBeUndefined();
    const local = { metadata: { name: 'v' }, spec: { hostPath: { path: '/a' } } };
    await expect(admit(local, admitting)).resolves.toBeUndefined();
  });
});
