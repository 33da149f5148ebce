/** The volume that a built-in provisioner creates for a claim, or why there is none. Pure. */
import {
  boundByControllerKey,
  localPathProvisioner,
  nodePathParameter,
  provisionedByKey,
  selectedNodeKey,
  storageClassName,
} from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
} from '@orch/types/core/v1';
import type { StorageClass } from '@orch/types/storage/v1';
import { claimReferenceOf } from './binding-plan.js';
import { isCanonicalPath } from './volume-path.js';

/** The provisioner of directories on the machine of the controller manager, for tests. */
export const hostPathProvisioner = () => dialect().key('host-path');

/** The directory of the volumes of `host-path`. */
export const hostPathRoot = '/tmp/hostpath_pv';

export interface ProvisioningState {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass;
  /** The selected node; undefined if none is selected or it does not exist. */
  readonly node: Node | undefined;
  readonly isHostPathEnabled: boolean;
}

export type ProvisioningPlan =
  | { readonly by: 'external' }
  | { readonly by: 'controller'; readonly volume: PersistentVolume }
  /** `isNodeAtFault`: another node may do. */
  | { readonly by: 'nobody'; readonly reason: string; readonly isNodeAtFault: boolean };

export function planProvisioning(state: ProvisioningState): ProvisioningPlan {
  const { provisioner } = state.storageClass;
  if (provisioner === localPathProvisioner()) return planLocalPath(state);
  if (provisioner === hostPathProvisioner() && state.isHostPathEnabled) {
    const path = `${hostPathRoot}/${volumeNameFor(state.claim)}`;
    return created(state, { hostPath: { path, type: '' } });
  }
  if (isBuiltIn(provisioner)) return failed(`no volume plugin matched name: ${provisioner}`);
  return { by: 'external' };
}

/** Provisioners of the domain of the API are part of the cluster, all others are external. */
export function isBuiltIn(provisioner: string): boolean {
  return provisioner.startsWith(dialect().key(''));
}

/** Returns the name of the volume that is provisioned for the claim. */
export function volumeNameFor({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata?.uid}`;
}

function failed(reason: string, isNodeAtFault = false): ProvisioningPlan {
  return { by: 'nobody', reason, isNodeAtFault };
}

function planLocalPath(state: ProvisioningState): ProvisioningPlan {
  const { claim, storageClass, node } = state;
  const root = storageClass.parameters?.[nodePathParameter] ?? '';
  if (!isCanonicalPath(root)) {
    const wanted = 'the absolute path of a directory on the nodes, other than /';
    return failed(`parameter "${nodePathParameter}" of the class must be ${wanted}`);
  }
  const selected = claim.metadata?.annotations?.[selectedNodeKey()];
  if (selected === undefined) {
    return failed('the class needs volumeBindingMode WaitForFirstConsumer');
  }
  if (!node) return failed(`node "${selected}" not found`, true);
  const hostname = node.metadata?.labels?.[dialect().key('hostname')];
  if (!hostname)
    return failed(`node "${selected}" has no label ${dialect().key('hostname')}`, true);
  if ((claim.spec?.accessModes ?? []).some((mode) => mode !== 'ReadWriteOnce')) {
    return failed('only the access mode ReadWriteOnce is supported');
  }
  const path = `${root}/${volumeNameFor(claim)}`;
  const required = { key: dialect().key('hostname'), operator: 'In', values: [hostname] };
  return created(state, {
    hostPath: { path, type: 'DirectoryOrCreate' },
    nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [required] }] } },
  });
}

/** What no built-in provisioner supports. */
function unsupported({ claim, storageClass }: ProvisioningState): string | undefined {
  if (claim.spec?.volumeMode === 'Block') return 'the volume mode Block is not supported';
  if (claim.spec?.selector) return 'claim.Spec.Selector is not supported';
  if (claim.spec?.dataSource) return 'claim.Spec.DataSource is not supported';
  const options = storageClass.mountOptions ?? [];
  if (options.length === 0) return undefined;
  return `Mount options are not supported by the provisioner but StorageClass "${storageClass.metadata?.name}" has mount options [${options.join(' ')}]`;
}

function created(
  state: ProvisioningState,
  source: Pick<PersistentVolumeSpec, 'hostPath' | 'nodeAffinity'>,
): ProvisioningPlan {
  const { claim, storageClass } = state;
  const problem = unsupported(state);
  if (problem) return failed(problem);
  const annotations = {
    [boundByControllerKey()]: 'yes',
    [provisionedByKey()]: storageClass.provisioner,
  };
  const volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volumeNameFor(claim), annotations },
    spec: {
      ...source,
      capacity: { storage: claim.spec?.resources?.requests?.storage ?? '0' },
      accessModes: claim.spec?.accessModes ?? [],
      volumeMode: 'Filesystem',
      storageClassName: storageClassName(claim),
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      claimRef: claimReferenceOf(claim),
    },
  };
  return { by: 'controller', volume };
}
