/** Flags of the controllers of volumes and claims. */
import { Flag } from '@orch/component';
import { IsInt, Max, Min } from 'class-validator';

const secondsMax = 86_400;

const templateFlag = (kind: 'nfs' | 'hostpath') =>
  Flag({
    name: `pv-recycler-pod-template-filepath-${kind}`,
    description: `file with the pod that recycles ${kind} volumes, mounted as its first volume; by default a pod that deletes all files`,
    default: '',
    type: 'string',
  });

const minimumFlag = (kind: 'nfs' | 'hostpath', seconds: number) =>
  Flag({
    name: `pv-recycler-minimum-timeout-${kind}`,
    description: `shortest deadline of a recycling pod of a ${kind} volume, in seconds. Higher: a pod that hangs is noticed later. Lower: slow volumes are not recycled.`,
    default: seconds,
  });

const incrementFlag = (name: string, kind: 'nfs' | 'hostpath') =>
  Flag({
    name,
    description: `seconds that each GiB of a ${kind} volume adds to the deadline of its recycling pod. Higher: a pod that hangs is noticed later. Lower: large volumes are not recycled.`,
    default: 30,
  });

export class StorageOptions {
  @Flag({
    name: 'pvclaimbinder-sync-period',
    description:
      'how often every volume and claim is reconciled without a change. Higher: claims wait longer for a new volume or class. Lower: more work without cause.',
    default: '15s',
    type: 'duration',
  })
  @Min(100)
  claimBinderSyncPeriodMs!: number;

  @Flag({
    name: 'enable-dynamic-provisioning',
    description:
      'create volumes for claims with a class; otherwise only existing volumes are bound',
    default: true,
  })
  enableDynamicProvisioning!: boolean;

  @Flag({
    name: 'enable-hostpath-provisioner',
    description:
      'provision classes of the provisioner host-path in /tmp/hostpath_pv of this machine; only for tests on one machine',
    default: false,
  })
  enableHostPathProvisioner!: boolean;

  @templateFlag('nfs')
  nfsRecyclerTemplateFile!: string;

  @templateFlag('hostpath')
  hostPathRecyclerTemplateFile!: string;

  @minimumFlag('nfs', 300)
  @IsInt()
  @Min(1)
  @Max(secondsMax)
  nfsRecyclerMinimumSeconds!: number;

  @minimumFlag('hostpath', 60)
  @IsInt()
  @Min(1)
  @Max(secondsMax)
  hostPathRecyclerMinimumSeconds!: number;

  @incrementFlag('pv-recycler-increment-timeout-nfs', 'nfs')
  @IsInt()
  @Min(0)
  @Max(secondsMax)
  nfsRecyclerSecondsPerGib!: number;

  @incrementFlag('pv-recycler-timeout-increment-hostpath', 'hostpath')
  @IsInt()
  @Min(0)
  @Max(secondsMax)
  hostPathRecyclerSecondsPerGib!: number;

  @Flag({
    name: 'attach-detach-reconcile-sync-period',
    description:
      'how often attached volumes are compared with the volumes of pods, more than 1s. Higher: a missed change is repaired later. Lower: more work without cause.',
    default: '1m0s',
    type: 'duration',
  })
  @Min(1_001)
  attachDetachSyncPeriodMs!: number;

  @Flag({
    name: 'disable-attach-detach-reconcile-sync',
    description:
      'reconcile attached volumes only when an object changes, not every --attach-detach-reconcile-sync-period',
    default: false,
  })
  disableAttachDetachSync!: boolean;
}
