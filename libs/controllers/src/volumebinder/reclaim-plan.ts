/** Who deletes or clears the data of a released volume, and the pod that does it. Pure. */
import { localPathProvisioner, provisionedByKey, volumeCapacity } from '@orch/apimachinery';
import type { PersistentVolume, PodSpec, Volume } from '@orch/types/core/v1';
import { isBuiltIn } from './provisioning-plan.js';
import { isCanonicalPath } from './volume-path.js';

export interface RecyclingPolicy {
  /** The pod that clears the volume, which becomes its first volume. */
  readonly template: PodSpec;
  readonly minimumSeconds: number;
  readonly secondsPerGib: number;
}

export interface RecyclingPolicies {
  readonly nfs: RecyclingPolicy;
  readonly hostPath: RecyclingPolicy;
}

export type DeletionPlan =
  | { readonly by: 'external provisioner' }
  /** A pod on a node of the volume deletes the data. */
  | { readonly by: 'pod'; readonly spec: PodSpec }
  /** The controller manager deletes this directory of its machine. */
  | { readonly by: 'controller'; readonly path: string }
  | { readonly by: 'nobody'; readonly reason: string };

const gib = 1n << 30n;
const image = 'busybox:1.27';

/** Deletes the entry `$2` of the directory `$1`; links are deleted, never their targets. */
const deletionScript = 'cd -P -- "$1" && rm -rf -- "./$2" && [ ! -e "./$2" ] && [ ! -L "./$2" ]';

const clearingScript =
  'test -e /scrub && rm -rf /scrub/..?* /scrub/.[!.]* /scrub/* && test -z "$(ls -A /scrub)" || exit 1';

/** The pod that deletes all files of a volume. */
export const clearingTemplate: PodSpec = {
  restartPolicy: 'Never',
  volumes: [{ name: 'vol', emptyDir: {} }],
  containers: [
    {
      name: 'pv-recycler',
      image,
      command: ['/bin/sh', '-c', clearingScript],
      volumeMounts: [{ name: 'vol', mountPath: '/scrub' }],
    },
  ],
};

export function planDeletion(
  volume: PersistentVolume,
  { hostPath }: RecyclingPolicies,
): DeletionPlan {
  const provisioner = volume.metadata?.annotations?.[provisionedByKey()];
  if (provisioner === localPathProvisioner()) return planDirectoryDeletion(volume, hostPath);
  if (provisioner !== undefined && !isBuiltIn(provisioner)) return { by: 'external provisioner' };
  const path = volume.spec?.hostPath?.path;
  if (path === undefined) return { by: 'nobody', reason: 'no deletable volume plugin matched' };
  if (isCanonicalPath(path) && path.startsWith('/tmp/')) return { by: 'controller', path };
  const reason = `host_path deleter only supports /tmp/.+ but received provided ${path}`;
  return { by: 'nobody', reason };
}

/** The directory has the name of the volume: no other directory is deleted. */
function planDirectoryDeletion(volume: PersistentVolume, policy: RecyclingPolicy): DeletionPlan {
  const path = volume.spec?.hostPath?.path ?? '';
  const name = volume.metadata?.name ?? '';
  const root = path.slice(0, path.lastIndexOf('/'));
  if (!isCanonicalPath(root) || !isCanonicalPath(path) || path !== `${root}/${name}`) {
    return { by: 'nobody', reason: `"${path}" is not a directory that was provisioned for it` };
  }
  const spec: PodSpec = {
    ...clearingTemplate,
    volumes: [{ name: 'volumes', hostPath: { path: root, type: 'DirectoryOrCreate' } }],
    containers: [
      {
        name: 'pv-deleter',
        image,
        command: ['/bin/sh', '-c', deletionScript, 'delete', root, name],
        // At its own path, which every mode of the process runtime permits.
        volumeMounts: [{ name: 'volumes', mountPath: root }],
      },
    ],
  };
  return { by: 'pod', spec: placed(spec, volume, policy) };
}

/** Returns the pod that clears the volume; undefined if volumes of its kind cannot be cleared. */
export function recyclingPod(
  volume: PersistentVolume,
  policies: RecyclingPolicies,
): PodSpec | undefined {
  const { nfs, hostPath } = volume.spec ?? {};
  const policy = nfs ? policies.nfs : hostPath ? policies.hostPath : undefined;
  const [first, ...others] = policy?.template.volumes ?? [];
  if (!policy || !first) return undefined;
  const mounted: Volume = { name: first.name, ...(nfs ? { nfs } : { hostPath }) };
  return placed({ ...policy.template, volumes: [mounted, ...others] }, volume, policy);
}

/** Runs the pod on a node of the volume, whatever its taints, with a deadline by its size. */
function placed(spec: PodSpec, volume: PersistentVolume, policy: RecyclingPolicy): PodSpec {
  const required = volume.spec?.nodeAffinity?.required;
  const gibs = Number((volumeCapacity(volume) + gib - 1n) / gib);
  return {
    ...spec,
    automountServiceAccountToken: false,
    tolerations: [{ operator: 'Exists' }],
    activeDeadlineSeconds: Math.max(policy.minimumSeconds, gibs * policy.secondsPerGib),
    ...(required && {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    }),
  };
}
