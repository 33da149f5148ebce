/** What pods and volumes refer to, as keys of the node graph. */
import type {
  Container,
  EphemeralContainer,
  PersistentVolume,
  Pod,
  PodSpec,
  Volume,
} from '@orch/types/core/v1';

/** Kinds that a node reaches only through its own pods. */
export type ReachedKind =
  | 'secrets'
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'serviceaccounts'
  | 'volumeattachments';

/** `namespace` is empty for cluster-scoped kinds. */
export function referenceKey(kind: ReachedKind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}

/** Volume sources with a secret in the field `secretRef`, in pods and in persistent volumes. */
const sourcesWithSecret = [
  'cephfs',
  'cinder',
  'flexVolume',
  'rbd',
  'scaleIO',
  'iscsi',
  'storageos',
] as const;

/** A pod gives its node access to the objects that it refers to, whether they exist or not. */
export function podReferences({ metadata, spec = {} }: Pod): string[] {
  const { namespace = '', name = '' } = metadata ?? {};
  const found = new Map<ReachedKind, (string | undefined)[]>([
    ['serviceaccounts', [spec.serviceAccountName]],
    ['secrets', secretNames(spec)],
    ['configmaps', configMapNames(spec)],
    ['persistentvolumeclaims', (spec.volumes ?? []).map((volume) => claimName(volume, name))],
  ]);
  const keys = [...found].flatMap(([kind, names]) =>
    names.flatMap((named) => (named ? [referenceKey(kind, namespace, named)] : [])),
  );
  return [...new Set(keys)];
}

function containersOf(spec: PodSpec): readonly (Container | EphemeralContainer)[] {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec;
  return [...initContainers, ...containers, ...ephemeralContainers];
}

function secretNames(spec: PodSpec): (string | undefined)[] {
  return [
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
      ...envFrom.map(({ secretRef }) => secretRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap((volume) => [
      volume.secret?.secretName,
      volume.azureFile?.secretName,
      volume.csi?.nodePublishSecretRef?.name,
      ...(volume.projected?.sources ?? []).map(({ secret }) => secret?.name),
      ...sourcesWithSecret.map((source) => volume[source]?.secretRef?.name),
    ]),
  ];
}

function configMapNames(spec: PodSpec): (string | undefined)[] {
  return [
    ...containersOf(spec).flatMap(({ env = [], envFrom = [] }) => [
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap((volume) => [
      volume.configMap?.name,
      ...(volume.projected?.sources ?? []).map(({ configMap }) => configMap?.name),
    ]),
  ];
}

function claimName(volume: Volume, podName: string): string | undefined {
  if (volume.ephemeral) return `${podName}-${volume.name}`;
  return volume.persistentVolumeClaim?.claimName;
}

/** The secrets of a bound volume that its node needs; their namespace defaults to the claim's. */
export function volumeSecrets({ spec = {} }: PersistentVolume): string[] {
  const { claimRef, csi, azureFile } = spec;
  if (!claimRef) return [];
  const references = [
    ...sourcesWithSecret.map((source) => spec[source]?.secretRef),
    csi?.nodePublishSecretRef,
    csi?.nodeStageSecretRef,
    azureFile && { name: azureFile.secretName, namespace: azureFile.secretNamespace },
  ];
  return references.flatMap((reference) => {
    if (!reference?.name) return [];
    const own = 'namespace' in reference ? reference.namespace : undefined;
    return [referenceKey('secrets', own || claimRef.namespace || '', reference.name)];
  });
}
