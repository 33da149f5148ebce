/** Changes of stored objects that break one rule of updates each. */
import { dialect } from '@orch/component';

export interface UpdateProbe {
  readonly rule: string;
  readonly path: string;
  readonly body: { readonly metadata?: { readonly name?: string } };
  /** Merged into the status first. */
  readonly stored?: object;
  readonly subresource?: string;
  readonly patch: object;
  /** Part of the message: field and reason. */
  readonly expected: string;
}

type Change = Pick<UpdateProbe, 'patch' | 'expected'> & Partial<UpdateProbe>;

function changesOf(path: string, body: UpdateProbe['body'], changes: readonly Change[]) {
  return changes.map(
    (change): UpdateProbe => ({
      rule: `${path.split('/').at(-1)}${change.subresource ?? ''}: ${change.expected}`,
      path,
      body,
      ...change,
    }),
  );
}

/** Each of these counts in the status must not be negative. */
function countsOf(path: string, body: UpdateProbe['body'], counts: readonly string[]) {
  return changesOf(
    path,
    body,
    counts.map((count) => ({
      subresource: '/status',
      patch: { status: { [count]: -1 } },
      expected: `status.${count}: Invalid value: -1`,
    })),
  );
}

const core = '/api/v1/namespaces/default';
const apps = '/apis/apps/v1/namespaces/default';
const status = '/status';
const labels = { a: 'b' };
const container = { name: 'c', image: 'i' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const workload = { metadata: {}, spec: { selector: { matchLabels: labels }, template } };
const podBody = { metadata: {}, spec: { restartPolicy: 'Never', containers: [container] } };
const exited = { terminated: { exitCode: 0 } };
const statusOf = (state: object) => ({
  containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state }],
});

const toleratingBody = {
  ...podBody,
  spec: { ...podBody.spec, tolerations: [{ key: 'a', operator: 'Exists' }] },
};

const tolerationChanges = changesOf(`${core}/pods`, toleratingBody, [
  { patch: { spec: { tolerations: [] } }, expected: 'spec.tolerations: Forbidden' },
]);

const podChanges = changesOf(`${core}/pods`, podBody, [
  {
    patch: {
      metadata: {
        annotations: {
          [dialect().key('c', 'container.apparmor.security.beta')]: 'unconfined',
        },
      },
    },
    expected: 'Forbidden',
  },
  { patch: { spec: { containers: [] } }, expected: 'spec.containers: Required' },
  { patch: { spec: { hostname: 'h' } }, expected: 'spec: Forbidden: pod updates may not change' },
  {
    patch: { spec: { activeDeadlineSeconds: 0 } },
    expected: 'spec.activeDeadlineSeconds: Invalid',
  },
  {
    subresource: status,
    patch: { status: { nominatedNodeName: 'A_b' } },
    expected: 'status.nominatedNodeName: Invalid',
  },
  {
    subresource: status,
    stored: { status: statusOf(exited) },
    patch: { status: statusOf({ running: {} }) },
    expected: 'status.containerStatuses[0].state: Forbidden',
  },
  {
    subresource: status,
    patch: { status: { conditions: [{ type: 'a b', status: 'True' }] } },
    expected: 'onditions[0].',
  },
  {
    subresource: status,
    patch: { status: { podIP: 'x', podIPs: [{ ip: 'x' }] } },
    expected: 'IP',
  },
]);

const serviceChanges = changesOf(
  `${core}/services`,
  { spec: { ports: [{ port: 80 }] } } as object,
  [
    {
      subresource: status,
      patch: { status: { loadBalancer: { ingress: [{ ip: 'x' }] } } },
      expected: 'status.loadBalancer.ingress[0].ip: Invalid',
    },
    {
      subresource: status,
      patch: { status: { loadBalancer: { ingress: [{ hostname: '10.0.0.1' }] } } },
      expected: 'status.loadBalancer.ingress[0].hostname: Invalid',
    },
  ],
);

const metadataChanges = changesOf(`${core}/configmaps`, { metadata: {} }, [
  { patch: { metadata: { uid: 'x' } }, expected: 'metadata.uid: Invalid' },
  {
    patch: { metadata: { deletionGracePeriodSeconds: 1 } },
    expected: 'metadata.deletionGracePeriodSeconds: Invalid',
  },
]);

const immutableMaps = [
  ...changesOf(`${core}/configmaps`, { immutable: true, data: { a: 'b' } } as object, [
    { patch: { data: { a: 'c' } }, expected: 'data: Forbidden' },
    { patch: { binaryData: { b: 'YQ==' } }, expected: 'binaryData: Forbidden' },
    { patch: { immutable: null }, expected: 'immutable: Forbidden' },
  ]),
  ...changesOf(`${core}/secrets`, { immutable: true } as object, [
    { patch: { data: { b: 'YQ==' } }, expected: 'data: Forbidden' },
    { patch: { type: 'a' }, expected: 'type: Invalid' },
  ]),
];

const job = { spec: { template: { spec: { restartPolicy: 'Never', containers: [container] } } } };
const jobChanges = [
  ...changesOf('/apis/batch/v1/namespaces/default/jobs', job as object, [
    { patch: { spec: { completions: 2 } }, expected: 'spec.completions: Invalid' },
    { patch: { spec: { completionMode: 'Indexed' } }, expected: 'spec.completionMode: Invalid' },
    {
      patch: { spec: { selector: { matchLabels: { x: 'y' } } } },
      expected: 'spec.selector: Invalid',
    },
  ]),
  ...countsOf('/apis/batch/v1/namespaces/default/jobs', job as object, [
    'active',
    'succeeded',
    'failed',
  ]),
];

const quota = { spec: { hard: { pods: '1' } } };
const quotaChanges = changesOf(`${core}/resourcequotas`, quota as object, [
  { patch: { spec: { scopes: ['BestEffort'] } }, expected: 'spec.scopes: Invalid' },
  {
    subresource: status,
    patch: { status: { used: { pods: '-1' } } },
    expected: 'status.used[pods]: Invalid',
  },
  {
    subresource: status,
    patch: { status: { hard: { 'a b': '1' } } },
    expected: 'status.hard[a b]: Invalid',
  },
]);

const volume = {
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/a' },
    nodeAffinity: {
      required: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
      },
    },
  },
};
const claim = {
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const volumeChanges = [
  ...changesOf('/api/v1/persistentvolumes', volume as object, [
    {
      patch: { spec: { hostPath: { path: '/b' } } },
      expected: 'spec.persistentvolumesource: Forbidden',
    },
    { patch: { spec: { volumeMode: 'Block' } }, expected: 'volumeMode: Invalid' },
    { patch: { spec: { nodeAffinity: null } }, expected: 'nodeAffinity: Invalid' },
  ]),
  ...changesOf(`${core}/persistentvolumeclaims`, claim as object, [
    {
      patch: { spec: { volumeName: 'v', accessModes: ['ReadOnlyMany'] } },
      expected: 'spec: Forbidden',
    },
    {
      subresource: status,
      patch: { status: { capacity: { storage: '-1' } } },
      expected: 'status.capacity[storage]: Invalid',
    },
  ]),
];

const nodeChanges = changesOf('/api/v1/nodes', { metadata: {} }, [
  {
    subresource: status,
    patch: { status: { capacity: { cpu: '-1' } } },
    expected: 'status.capacity.cpu: Invalid',
  },
  {
    subresource: status,
    patch: { status: { allocatable: { pods: '1.5' } } },
    expected: 'status.allocatable.pods: Invalid',
  },
  {
    subresource: status,
    patch: {
      status: {
        addresses: [
          { type: 'InternalIP', address: '10.0.0.1' },
          { type: 'InternalIP', address: '10.0.0.1' },
        ],
      },
    },
    expected: 'status.addresses[1]: Duplicate',
  },
]);

const driver = { spec: { attachRequired: true, storageCapacity: false } };
const storage = `/apis/${dialect().group('storage')}/v1`;
const driverChanges = changesOf(`${storage}/csidrivers`, driver as object, [
  { patch: { spec: { attachRequired: false } }, expected: 'spec.attachedRequired: Invalid' },
  { patch: { spec: { fsGroupPolicy: 'None' } }, expected: 'spec.fsGroupPolicy: Invalid' },
  { patch: { spec: { podInfoOnMount: true } }, expected: 'spec.podInfoOnMount: Invalid' },
  {
    patch: { spec: { volumeLifecycleModes: ['Ephemeral'] } },
    expected: 'spec.volumeLifecycleModes: Invalid',
  },
  { patch: { spec: { storageCapacity: true } }, expected: 'spec.storageCapacity: Invalid' },
]);

const budget = { spec: { minAvailable: 1, selector: {} } };
const countChanges = [
  ...countsOf(`${apps}/deployments`, workload, [
    'observedGeneration',
    'unavailableReplicas',
    'collisionCount',
  ]),
  ...countsOf(`${apps}/replicasets`, workload, ['observedGeneration']),
  ...countsOf(`${apps}/statefulsets`, workload, ['observedGeneration', 'collisionCount']),
  ...countsOf(`${apps}/daemonsets`, workload, [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'observedGeneration',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ]),
  ...countsOf('/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget as object, [
    'currentHealthy',
    'desiredHealthy',
    'expectedPods',
    'disruptionsAllowed',
  ]),
];

export const updateProbes: readonly UpdateProbe[] = [
  ...podChanges,
  ...tolerationChanges,
  ...serviceChanges,
  ...metadataChanges,
  ...immutableMaps,
  ...jobChanges,
  ...quotaChanges,
  ...volumeChanges,
  ...nodeChanges,
  ...driverChanges,
  ...countChanges,
];
