/** Fields of pods, and of templates of pods, that belong to features which can be off. */
import { below, firstOnly, type GatedField } from '../shared/gated-fields.js';
import { appArmorPrefix } from './pod-annotations.js';

const containerLists = ['containers', 'initContainers'];
const ofContainers = (gate: string | undefined, path: string, more: Partial<GatedField> = {}) =>
  containerLists.map((list) => ({
    ...(gate !== undefined && { gate }),
    path: `spec.${list}[].${path}`,
    ...more,
  }));

const affinities = ['podAffinity', 'podAntiAffinity'];
const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'];

/** What has the metadata and the spec of a pod. */
/** From the object that has the spec on. */
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
  ...ofContainers(undefined, 'securityContext.procMount', { off: () => 'Default' }),
  ...probes.flatMap((probe) => ofContainers(undefined, `${probe}.terminationGracePeriodSeconds`)),
];

export const gatedPodFields: readonly GatedField[] = [
  ...podFields,
  { gate: 'IPv6DualStack', path: 'status.podIPs', off: firstOnly },
];

/** Of kinds that make pods. */
export const gatedTemplateFields = below('spec.template', podFields);
