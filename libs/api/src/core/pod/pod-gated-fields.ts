/** Fields of pods and pod templates that belong to feature gates. */
import type { GatedField } from '../../definition.js';
import { below, firstOnly } from '../../shared/gated-fields.js';
import { appArmorPrefix } from './pod-annotations.js';

const containerLists = ['containers', 'initContainers'];
const ofContainers = (gate: string, path: string, more: Partial<GatedField> = {}) =>
  containerLists.map((list) => ({
    gate,
    path: `spec.${list}[].${path}`,
    ...more,
  }));

const affinities = ['podAffinity', 'podAntiAffinity'];
/** Validation rejects the field of the readiness probe. */
const probes = ['livenessProbe', 'startupProbe'];

/** Paths relative to the object with the spec. */
export const podFields: readonly GatedField[] = [
  {
    gate: 'AppArmor',
    path: 'metadata.annotations',
    keys: (key) => key.startsWith(appArmorPrefix()),
  },
  { gate: 'EphemeralContainers', path: 'spec.ephemeralContainers' },
  { gate: 'CSIInlineVolume', path: 'spec.volumes[].csi' },
  { gate: 'ConfigurableFSGroupPolicy', path: 'spec.securityContext.fsGroupChangePolicy' },
  { gate: 'GenericEphemeralVolume', path: 'spec.volumes[].ephemeral' },
  { gate: 'LocalStorageCapacityIsolation', path: 'spec.volumes[].emptyDir.sizeLimit' },
  { gate: 'NonPreemptingPriority', path: 'spec.preemptionPolicy' },
  { gate: 'PodOverhead', path: 'spec.overhead' },
  { gate: 'SetHostnameAsFQDN', path: 'spec.setHostnameAsFQDN' },
  ...affinities.flatMap((kind): GatedField[] => [
    {
      gate: 'PodAffinityNamespaceSelector',
      path: `spec.affinity.${kind}.requiredDuringSchedulingIgnoredDuringExecution[].namespaceSelector`,
    },
    {
      gate: 'PodAffinityNamespaceSelector',
      path: `spec.affinity.${kind}.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm.namespaceSelector`,
    },
  ]),
  ...ofContainers('VolumeSubpath', 'volumeMounts[].subPath'),
  ...ofContainers('VolumeSubpath', 'volumeMounts[].subPathExpr'),
  ...ofContainers('ProcMountType', 'securityContext.procMount', { off: () => 'Default' }),
  ...probes.flatMap((probe) =>
    ofContainers('ProbeTerminationGracePeriod', `${probe}.terminationGracePeriodSeconds`),
  ),
];

export const gatedPodFields: readonly GatedField[] = [
  ...podFields,
  { gate: 'IPv6DualStack', path: 'status.podIPs', off: firstOnly },
];

/** For kinds with a pod template. */
export const gatedTemplateFields = below('spec.template', podFields);
