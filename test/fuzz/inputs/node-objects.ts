/**
 * Pods, volumes, attachments and nodes of a small world, drawn together with the list of their
 * references, so that a model needs no knowledge of their fields.
 */
import type { Node, PersistentVolume, Pod, PodSpec } from '@orch/types/core/v1';
import type { VolumeAttachment } from '@orch/types/storage/v1';
import fc from 'fast-check';

export interface Reference {
  readonly kind: 'secrets' | 'configmaps' | 'persistentvolumeclaims' | 'serviceaccounts';
  readonly namespace: string;
  readonly name: string;
}

export type GraphChange =
  | {
      readonly kind: 'set pod';
      readonly key: string;
      readonly pod: Pod;
      readonly isMirror: boolean;
      readonly references: readonly Reference[];
    }
  | {
      readonly kind: 'set node';
      readonly key: string;
      readonly node: Node;
      readonly references: readonly Reference[];
    }
  | { readonly kind: 'set attachment'; readonly key: string; readonly attachment: VolumeAttachment }
  | { readonly kind: 'delete source'; readonly key: string }
  | {
      readonly kind: 'set volume';
      readonly name: string;
      readonly volume: PersistentVolume;
      /** Namespace empty: that of the claim. */
      readonly secrets: readonly { readonly namespace: string; readonly name: string }[];
    }
  | { readonly kind: 'delete volume'; readonly name: string };

export const nodeNames = ['n1', 'n2'] as const;
export const objectNames = ['x', 'y', 'z', 'p-v'] as const;
export const namespaces = ['a', 'b'] as const;

const container = (members: object) => ({ name: 'c', image: 'i', ...members });
const volume = (source: object) => ({ volumes: [{ name: 'v', ...source }] });
const env = (valueFrom: object) => ({ env: [{ name: 'E', valueFrom }] });

const secretSources = [
  ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'],
] as const;

type Place = (name: string) => readonly [kind: Reference['kind'], spec: object, name?: string];

/** Every place of a pod that refers to an object by name. */
const places: readonly Place[] = [
  (name) => ['serviceaccounts', { serviceAccountName: name }],
  (name) => ['secrets', { imagePullSecrets: [{ name }] }],
  (name) => ['secrets', { containers: [container(env({ secretKeyRef: { name, key: 'k' } }))] }],
  (name) => ['secrets', { initContainers: [container({ envFrom: [{ secretRef: { name } }] })] }],
  (name) => [
    'secrets',
    { ephemeralContainers: [container(env({ secretKeyRef: { name, key: 'k' } }))] },
  ],
  (name) => ['secrets', volume({ secret: { secretName: name } })],
  (name) => ['secrets', volume({ azureFile: { secretName: name, shareName: 's' } })],
  (name) => ['secrets', volume({ csi: { driver: 'd', nodePublishSecretRef: { name } } })],
  (name) => ['secrets', volume({ projected: { sources: [{}, { secret: { name } }] } })],
  ...secretSources.map(
    (source): Place =>
      (name) => ['secrets', volume({ [source]: { secretRef: { name } } })],
  ),
  (name) => [
    'configmaps',
    { containers: [container(env({ configMapKeyRef: { name, key: 'k' } }))] },
  ],
  (name) => ['configmaps', { containers: [container({ envFrom: [{ configMapRef: { name } }] })] }],
  (name) => ['configmaps', volume({ configMap: { name } })],
  (name) => ['configmaps', volume({ projected: { sources: [{ configMap: { name } }] } })],
  (name) => ['persistentvolumeclaims', volume({ persistentVolumeClaim: { claimName: name } })],
  // The claim of an ephemeral volume is named after pod and volume.
  () => ['persistentvolumeclaims', volume({ ephemeral: { volumeClaimTemplate: {} } }), 'p-v'],
];

const anyOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
const drawnPlaces = fc.array(fc.tuple(anyOf(places), anyOf(['x', 'y', 'z'])), { maxLength: 4 });

/** Joins parts of a spec; their lists are concatenated. */
function merged(parts: readonly object[]): PodSpec {
  const spec: Record<string, unknown> = {};
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    spec[name] = Array.isArray(value) ? [...((spec[name] as unknown[]) ?? []), ...value] : value;
  }
  return spec as PodSpec;
}

const podChange = fc
  .record({
    key: anyOf(['p1', 'p2', 'p3']),
    namespace: anyOf(namespaces),
    nodeName: anyOf([...nodeNames, ...nodeNames, '']),
    /** One in four is a mirror pod. */
    isMirror: fc.nat(3).map((number) => number === 0),
    drawn: drawnPlaces,
  })
  .map(({ key, namespace, nodeName, isMirror, drawn }): GraphChange => {
    const placed = drawn.map(([place, name]) => ({ built: place(name), name }));
    // A pod has one service account: the last part stands.
    const account = placed.findLast(({ built }) => built[0] === 'serviceaccounts');
    const counted = placed.filter(
      (each) => each.built[0] !== 'serviceaccounts' || each === account,
    );
    return {
      kind: 'set pod',
      key: `pods/${key}`,
      isMirror,
      pod: {
        metadata: { name: 'p', namespace },
        spec: { ...merged(placed.map(({ built }) => built[1])), nodeName },
      },
      references: counted.map(({ built: [kind, , own], name }) => ({
        kind,
        namespace,
        name: own ?? name,
      })),
    };
  });

const nodeChange = fc
  .record({
    name: anyOf(nodeNames),
    namespace: anyOf(namespaces),
    configMap: anyOf(['x', 'y', '']),
  })
  .map(
    ({ name, namespace, configMap }): GraphChange => ({
      kind: 'set node',
      key: `nodes/${name}`,
      node: {
        metadata: { name },
        spec: {
          ...(configMap !== '' && {
            configSource: { configMap: { namespace, name: configMap, kubeletConfigKey: 'k' } },
          }),
        },
      },
      references: configMap === '' ? [] : [{ kind: 'configmaps', namespace, name: configMap }],
    }),
  );

const attachmentChange = fc.record({ name: anyOf(objectNames), nodeName: anyOf(nodeNames) }).map(
  ({ name, nodeName }): GraphChange => ({
    kind: 'set attachment',
    key: `attachments/${name}`,
    attachment: { metadata: { name }, spec: { attacher: 'a', nodeName, source: {} } },
  }),
);

type SecretReference = { readonly name: string; readonly namespace?: string };
const volumeSecretPlaces: readonly ((secret: SecretReference) => object)[] = [
  ...secretSources.map((source) => (secretRef: SecretReference) => ({ [source]: { secretRef } })),
  (nodePublishSecretRef) => ({ csi: { driver: 'd', volumeHandle: 'h', nodePublishSecretRef } }),
  (nodeStageSecretRef) => ({ csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef } }),
  ({ name, namespace }) => ({
    azureFile: {
      shareName: 's',
      secretName: name,
      ...(namespace !== undefined && { secretNamespace: namespace }),
    },
  }),
];

const volumeChange = fc
  .record({
    name: anyOf(objectNames),
    claim: fc.option(fc.record({ namespace: anyOf(namespaces), name: anyOf(objectNames) }), {
      nil: undefined,
    }),
    place: fc.option(anyOf(volumeSecretPlaces), { nil: undefined }),
    secret: fc.record({ name: anyOf(['x', 'y', 'z']), namespace: anyOf(['', ...namespaces]) }),
  })
  .map(
    ({ name, claim, place, secret }): GraphChange => ({
      kind: 'set volume',
      name,
      volume: {
        metadata: { name },
        spec: {
          ...place?.({
            name: secret.name,
            ...(secret.namespace !== '' && { namespace: secret.namespace }),
          }),
          ...(claim && { claimRef: claim }),
        },
      },
      secrets: place ? [secret] : [],
    }),
  );

const deletion = fc.oneof<fc.Arbitrary<GraphChange>[]>(
  fc.record({
    kind: fc.constant('delete source' as const),
    key: anyOf([
      ...['pods/p1', 'pods/p2', 'pods/p3', 'nodes/n1', 'nodes/n2'],
      ...objectNames.map((name) => `attachments/${name}`),
    ]),
  }),
  fc.record({ kind: fc.constant('delete volume' as const), name: anyOf(objectNames) }),
);

export const graphChanges: fc.Arbitrary<GraphChange> = fc.oneof(
  { weight: 5, arbitrary: podChange },
  { weight: 3, arbitrary: volumeChange },
  { weight: 1, arbitrary: nodeChange },
  { weight: 1, arbitrary: attachmentChange },
  { weight: 3, arbitrary: deletion },
);
