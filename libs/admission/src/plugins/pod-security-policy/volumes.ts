/** Kinds of volumes, host paths, drivers, and the runtime class. */
import { type FieldError, type FieldPath, fieldError, path } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { Pod, ProjectedVolumeSource, Volume } from '@orch/types/core/v1';
import type { AllowedHostPath } from '@orch/types/policy/v1beta1';
import { containersOf } from './pod-containers.js';
import type { PodMutator, PodValidator, PolicyView } from './policy-strategy.js';

const anything = '*';

export const validateVolumes: PodValidator = (policy, pod) =>
  (pod.spec?.volumes ?? []).flatMap((volume, index) =>
    checkVolume(policy, pod, volume, path('spec', 'volumes').index(index)),
  );

export const mutateRuntimeClass: PodMutator = ({ spec }, pod) => {
  const name = spec.runtimeClass?.defaultRuntimeClassName;
  if (name === undefined || pod.spec?.runtimeClassName !== undefined) return;
  pod.spec = { ...pod.spec, runtimeClassName: name };
};

export const validateRuntimeClass: PodValidator = ({ spec }, pod) => {
  const name = pod.spec?.runtimeClassName;
  if (!spec.runtimeClass || name === undefined) return [];
  const allowed = spec.runtimeClass.allowedRuntimeClassNames ?? [];
  if (allowed.includes(anything) || allowed.includes(name)) return [];
  return [fieldError.invalid(path('spec', 'runtimeClassName'), name, '')];
};

function checkVolume(
  policy: PolicyView,
  pod: Pod,
  volume: Volume,
  fieldPath: FieldPath,
): FieldError[] {
  const kind = kindOf(volume);
  if (kind === undefined) {
    return [fieldError.invalid(fieldPath, '', `unknown volume type for volume: ${volume.name}`)];
  }
  if (!allowsKind(policy, kind, volume)) {
    return [fieldError.invalid(fieldPath, kind, `${kind} volumes are not allowed to be used`)];
  }
  const { allowedHostPaths = [], allowedFlexVolumes = [], allowedCSIDrivers = [] } = policy.spec;
  if (volume.hostPath) return checkHostPath(allowedHostPaths, pod, volume, fieldPath);
  if (volume.flexVolume) {
    const { driver } = volume.flexVolume;
    const isAllowed = allowedFlexVolumes.some((allowed) => allowed.driver === driver);
    if (allowedFlexVolumes.length === 0 || isAllowed) return [];
    const message = 'Flexvolume driver is not allowed to be used';
    return [fieldError.invalid(fieldPath.child('driver'), driver, message)];
  }
  if (volume.csi) {
    const { driver } = volume.csi;
    const isAllowed = allowedCSIDrivers.some(({ name }) => name === driver);
    if (allowedCSIDrivers.length === 0 || isAllowed) return [];
    const message = 'Inline CSI driver is not allowed to be used';
    return [fieldError.invalid(fieldPath.child('csi', 'driver'), driver, message)];
  }
  return [];
}

/** The field of the volume's source, as policies name it. */
function kindOf(volume: Volume): string | undefined {
  const source = Object.entries(volume).find(
    ([field, value]) => field !== 'name' && value !== undefined,
  )?.[0];
  return source === 'cephfs' ? 'cephFS' : source;
}

function allowsKind({ spec }: PolicyView, kind: string, { projected }: Volume): boolean {
  const { volumes = [] } = spec;
  if (volumes.includes(anything) || volumes.includes(kind)) return true;
  // Tokens were secrets before they were projected.
  return volumes.includes('secret') && projected !== undefined && isTokenVolume(projected);
}

/** Reports whether the volume has only the sources of a service account's token. */
function isTokenVolume({ sources = [] }: ProjectedVolumeSource): boolean {
  return sources.every(({ serviceAccountToken, configMap, downwardAPI, secret }) => {
    if (secret || !(serviceAccountToken || configMap || downwardAPI)) return false;
    const { path: tokenPath = 'token', audience = '' } = serviceAccountToken ?? {};
    if (tokenPath !== 'token' || audience !== '') return false;
    if (configMap && configMap.name !== dialect().systemName('root-ca.crt')) return false;
    return (downwardAPI?.items ?? []).every(
      ({ path: itemPath, fieldRef }) =>
        itemPath === 'namespace' &&
        fieldRef?.apiVersion === 'v1' &&
        fieldRef.fieldPath === 'metadata.namespace',
    );
  });
}

function checkHostPath(
  allowed: readonly AllowedHostPath[],
  pod: Pod,
  volume: Volume,
  fieldPath: FieldPath,
): FieldError[] {
  const hostPath = volume.hostPath?.path ?? '';
  if (allowed.length === 0) return [];
  const matching = allowed.filter(({ pathPrefix = '' }) => isBelow(hostPath, pathPrefix));
  if (matching.length === 0) {
    const at = fieldPath.child('hostPath', 'pathPrefix');
    return [fieldError.invalid(at, hostPath, 'is not allowed to be used')];
  }
  return matching.every(({ readOnly }) => readOnly) ? checkReadOnly(pod, volume.name) : [];
}

function checkReadOnly(pod: Pod, volumeName: string): FieldError[] {
  return containersOf(pod).flatMap(({ container, fieldPath }) =>
    (container.volumeMounts ?? []).flatMap(({ name, readOnly }, index) => {
      if (name !== volumeName || readOnly) return [];
      const at = fieldPath.child('volumeMounts').index(index).child('readOnly');
      return [fieldError.invalid(at, false, 'must be read-only')];
    }),
  );
}

/** Prefixes are whole segments: `/etc` is not a prefix of `/etcd`. */
function isBelow(hostPath: string, prefix: string): boolean {
  const whole = hostPath.replace(/\/$/, '');
  const start = prefix.replace(/\/$/, '');
  return whole === start || whole.startsWith(`${start}/`);
}
