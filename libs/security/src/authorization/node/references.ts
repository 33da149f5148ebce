/** What pods and volumes refer to, as keys of the node graph. */
import type {
  Container,
  EphemeralContainer,
  PersistentVolume,
  Pod,
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

/** Collects each key once; an absent or empty name refers to nothing. */
class References {
  readonly keys = new Set<string>();

  constructor(private readonly namespace: string) {}

  add(kind: ReachedKind, name: string | undefined): void {
    if (name) this.keys.add(referenceKey(kind, this.namespace, name));
  }
}

/** A pod gives its node access to the objects that it refers to, whether they exist or not. */
export function podReferences({ metadata, spec = {} }: Pod): string[] {
  const { namespace = '', name = '' } = metadata ?? {};
  const references = new References(namespace);
  references.add('serviceaccounts', spec.serviceAccountName);
  for (const secret of spec.imagePullSecrets ?? []) references.add('secrets', secret.name);
  const { initContainers = [], containers = [], ephemeralContainers = [] } = spec;
  for (const container of initContainers) addContainer(references, container);
  for (const container of containers) addContainer(references, container);
  for (const container of ephemeralContainers) addContainer(references, container);
  for (const volume of spec.volumes ?? []) addVolume(references, volume, name);
  return [...references.keys];
}

function addContainer(
  references: References,
  { env = [], envFrom = [] }: Container | EphemeralContainer,
): void {
  for (const { valueFrom } of env) {
    if (!valueFrom) continue;
    references.add('secrets', valueFrom.secretKeyRef?.name);
    references.add('configmaps', valueFrom.configMapKeyRef?.name);
  }
  for (const { secretRef, configMapRef } of envFrom) {
    references.add('secrets', secretRef?.name);
    references.add('configmaps', configMapRef?.name);
  }
}

function addVolume(references: References, volume: Volume, podName: string): void {
  references.add('secrets', volume.secret?.secretName);
  references.add('secrets', volume.azureFile?.secretName);
  references.add('secrets', volume.csi?.nodePublishSecretRef?.name);
  references.add('configmaps', volume.configMap?.name);
  references.add('persistentvolumeclaims', claimName(volume, podName));
  for (const { secret, configMap } of volume.projected?.sources ?? []) {
    references.add('secrets', secret?.name);
    references.add('configmaps', configMap?.name);
  }
  for (const source of sourcesWithSecret) {
    const secret = volume[source]?.secretRef;
    if (secret) references.add('secrets', secret.name);
  }
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
