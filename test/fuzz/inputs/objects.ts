/** Objects of the served kinds: realistic ones, and random ones of their types. */
import { definitions } from '@orch/api';
import { schemaType } from '@orch/apimachinery';
import fc from 'fast-check';
import { arbitraryObject } from '../../../libs/apimachinery/src/schema/testing/arbitrary-object.js';
import type { ServedResource } from '../../../libs/registry/src/table/resource.js';
import { ResourceTable } from '../../../libs/registry/src/table/resource-table.js';
import { changedJson } from './json.js';
import { recordedBody } from './recorded-bodies.js';

export const table = new ResourceTable(definitions);

// Keeps the text of a failing input short.
for (const served of table.served) {
  Object.assign(served, { [fc.toStringMethod]: () => `${served.apiVersion} ${served.kind}` });
}

const labels = { app: 'web', tier: 'front' };
const template = {
  metadata: { labels },
  spec: {
    restartPolicy: 'Always',
    initContainers: [{ name: 'init', image: 'busybox', command: ['true'] }],
    containers: [
      {
        name: 'main',
        image: 'nginx:1.25',
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'C', valueFrom: { configMapKeyRef: { name: 'c', key: 'k', optional: true } } },
        ],
        ports: [{ name: 'http', containerPort: 80, protocol: 'TCP' }],
        resources: {
          requests: { cpu: '100m', memory: '64Mi' },
          limits: { cpu: '1', memory: '1Gi' },
        },
        volumeMounts: [{ name: 'data', mountPath: '/data', subPath: 'a' }],
        livenessProbe: { httpGet: { path: '/', port: 'http', scheme: 'HTTP' }, periodSeconds: 5 },
        readinessProbe: { tcpSocket: { port: 80 } },
        lifecycle: { preStop: { exec: { command: ['sleep', '1'] } } },
        securityContext: { runAsUser: 1000, capabilities: { add: ['NET_ADMIN'] } },
      },
    ],
    volumes: [
      { name: 'data', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'all', projected: { sources: [{ secret: { name: 's' } }], defaultMode: 420 } },
    ],
    tolerations: [
      { key: 'a', operator: 'Equal', value: 'b', effect: 'NoExecute', tolerationSeconds: 5 },
    ],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: 'z', operator: 'In', values: ['1'] }] }],
        },
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 1,
            podAffinityTerm: { labelSelector: { matchLabels: labels }, topologyKey: 'h' },
          },
        ],
      },
    },
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: {} },
    ],
    hostAliases: [{ ip: '127.0.0.1', hostnames: ['a.b'] }],
    dnsConfig: { nameservers: ['1.1.1.1'], options: [{ name: 'ndots', value: '2' }] },
    securityContext: { fsGroup: 1, sysctls: [{ name: 'net.core.somaxconn', value: '1' }] },
  },
};
const selector = { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'Exists' }] };
const involvedObject = { kind: 'Pod', namespace: 'default', name: 'a', uid: 'u', apiVersion: 'v1' };

/** The fields of each kind; common metadata is added. */
const bodies: Readonly<Record<string, object>> = {
  Namespace: { spec: { finalizers: ['a.b/c'] } },
  Node: {
    spec: { podCIDR: '10.0.0.0/24', taints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }] },
    status: {
      capacity: { cpu: '4', memory: '8Gi' },
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    },
  },
  Pod: { spec: template.spec },
  Service: {
    spec: {
      type: 'NodePort',
      selector: labels,
      ports: [{ name: 'http', port: 80, targetPort: 'http', nodePort: 30080, protocol: 'TCP' }],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } },
      ipFamilyPolicy: 'SingleStack',
      clusterIP: '10.96.0.20',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
    },
  },
  Endpoints: {
    subsets: [
      { addresses: [{ ip: '10.0.0.9', targetRef: involvedObject }], ports: [{ port: 80 }] },
    ],
  },
  ConfigMap: { data: { a: 'b' }, binaryData: { c: 'AAEC' }, immutable: false },
  Secret: { type: 'Opaque', data: { a: 'AAEC' }, stringData: { b: 'text' } },
  ServiceAccount: { secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'p' }] },
  Event: {
    involvedObject,
    reason: 'Started',
    message: 'm',
    type: 'Normal',
    count: 2,
    firstTimestamp: '2026-01-02T03:04:05Z',
    eventTime: '2026-01-02T03:04:05.123456Z',
    reportingComponent: 'x.y/z',
    reportingInstance: 'i',
    action: 'a',
    series: { count: 3, lastObservedTime: '2026-01-02T03:04:05.123456Z' },
  },
  Lease: {
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      renewTime: '2026-01-02T03:04:05.123456Z',
    },
  },
  Deployment: {
    spec: {
      replicas: 3,
      selector,
      template,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
    },
  },
  ReplicaSet: { spec: { replicas: 1, selector, template } },
  PriorityClass: { value: 1000, preemptionPolicy: 'Never', globalDefault: false },
  StorageVersion: {
    metadata: { name: 'apps.deployments' },
    spec: {},
    status: {
      storageVersions: [
        { apiServerID: 'a', encodingVersion: 'apps/v1', decodableVersions: ['apps/v1'] },
      ],
      commonEncodingVersion: 'apps/v1',
    },
  },
};

const metadata = {
  name: 'a',
  labels,
  annotations: { note: 'x', 'a.b/c': '{"a":[1,2]}' },
  finalizers: ['a.b/c'],
  ownerReferences: [
    {
      apiVersion: 'v1',
      kind: 'Node',
      name: 'n',
      uid: 'u',
      controller: true,
      blockOwnerDeletion: true,
    },
  ],
  managedFields: [
    {
      manager: 'm',
      operation: 'Update',
      apiVersion: 'v1',
      time: '2026-01-02T03:04:05Z',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} } } },
    },
  ],
};

/** Whether there is a realistic object of this version. */
export function isKnown({ apiVersion, kind }: ServedResource): boolean {
  return bodies[kind] !== undefined || recordedBody(apiVersion, kind) !== undefined;
}

/** A realistic object of the kind, or little more than metadata if there is none. */
export function realisticObject(served: ServedResource): Record<string, unknown> {
  const { apiVersion, kind } = served;
  const namespace = served.definition.namespaced ? { namespace: 'default' } : {};
  const body: object = bodies[kind] ?? recordedBody(apiVersion, kind) ?? {};
  const own = (body as { metadata?: object }).metadata;
  return { ...body, kind, apiVersion, metadata: { ...metadata, ...namespace, ...own } };
}

export const anyServed: fc.Arbitrary<ServedResource> = fc.constantFrom(...table.served);

/** Objects that fit their type and are often invalid. */
function randomObject(served: ServedResource): fc.Arbitrary<unknown> {
  return arbitraryObject(served.codec.name, 5).map((object) => ({
    ...(object as object),
    kind: served.kind,
    apiVersion: served.apiVersion,
  }));
}

/** Valid objects, and some nearly valid ones. */
export function changedObject(served: ServedResource): fc.Arbitrary<unknown> {
  const names = schemaType(served.codec.name)
    .fields.map((field) => field.name)
    .filter(Boolean);
  const whole = fc.constant(realisticObject(served));
  return changedJson(
    fc.oneof({ weight: 3, arbitrary: whole }, { weight: 2, arbitrary: randomObject(served) }),
    ['spec', 'status', 'metadata', 'name', ...names],
  );
}

/** A kind with an object for it, and values derived from both. */
export function withServed<Input>(
  make: (served: ServedResource) => fc.Arbitrary<Input>,
): fc.Arbitrary<{ readonly served: ServedResource; readonly input: Input }> {
  return anyServed.chain((served) => make(served).map((input) => ({ served, input })));
}
