import type { Lease } from '@orch/types/coordination/v1';
import type {
  ConfigMap,
  Endpoints,
  Event,
  Namespace,
  Node,
  Secret,
  ServiceAccount,
} from '@orch/types/core/v1';
import { describe, expect, it } from 'vitest';
import { lease } from '../coordination/lease.js';
import { definitions } from '../definitions.js';
import { cells, create, nowMs, requestContext, update } from '../testing/write.js';
import { configMap } from './config-map.js';
import { event } from './event/event.js';
import { namespace } from './namespace.js';
import { node } from './node/node.js';
import { secret } from './secret.js';
import { endpoints } from './service/endpoints.js';
import { serviceAccount } from './service-account.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('all kinds', () => {
  it('have unique names', () => {
    const names = definitions.map(({ stored, plural }) => `${stored.group}/${plural}`);
    expect(new Set(names).size).toBe(names.length);
  });
  it('have a name column first, and an age', () => {
    for (const definition of definitions.filter(({ virtual }) => !virtual)) {
      expect(definition.columns.map(({ name }) => name)).toContain('Name');
    }
  });
});

describe('namespaces', () => {
  const fresh = create<Namespace>(namespace, { metadata: { name: 'team' } }).object;
  it('get the finalizer and the name label', () => {
    expect(fresh).toMatchObject({
      metadata: { labels: { 'orch.io/metadata.name': 'team' } },
      spec: { finalizers: ['orch'] },
      status: { phase: 'Active' },
    });
  });
  it('keep finalizers, status and label on updates', () => {
    const { object } = update(namespace, fresh, (changed: Namespace) => {
      changed.spec = {};
      delete changed.status;
      changed.metadata!.labels = {};
    });
    expect(object).toMatchObject(fresh);
  });
  it('are Terminating while finalizers remain', () => {
    const object = structuredClone(fresh);
    namespace.prepareForDelete?.(object, requestContext());
    expect(object.status?.phase).toBe('Terminating');
    expect(namespace.specFinalizers?.(object)).toEqual(['orch']);
  });
  it('must have a DNS label as name', () => {
    expect(create(namespace, { metadata: { name: 'a.b' } }).errors[0]).toMatch(
      /^metadata\.name: Invalid value: "a\.b": a lowercase RFC 1123 label must/,
    );
  });
});

describe('nodes', () => {
  it('synchronise both CIDR fields and default allocatable to capacity', () => {
    const { object } = create<Node>(node, {
      spec: { podCIDR: '10.200.1.0/24' },
      status: { capacity: { cpu: '4' } },
    });
    expect(object.spec?.podCIDRs).toEqual(['10.200.1.0/24']);
    expect(object.status?.allocatable).toEqual({ cpu: '4' });
  });
  it('take the single CIDR if the first of the list differs', () => {
    const spec = { podCIDR: '10.1.0.0/24', podCIDRs: ['10.2.0.0/24', 'fd00::/64'] };
    expect(create<Node>(node, { spec }).object.spec).toEqual({
      podCIDR: '10.1.0.0/24',
      podCIDRs: ['10.1.0.0/24'],
    });
  });
  it('validate their configuration source', () => {
    const old = create<Node>(node, {}).object;
    const { errors } = update(node, old, (changed: Node) => {
      changed.spec = {
        configSource: {
          configMap: { namespace: 'ns', name: 'n', uid: 'u', kubeletConfigKey: 'a/b' },
        },
      };
    });
    expect(errors).toEqual([
      'spec.configSource.configMap.uid: Forbidden: uid must not be set in spec',
      expect.stringMatching(
        /^spec\.configSource\.configMap\.kubeletConfigKey: Invalid value: "a\/b"/,
      ),
    ]);
  });
  it('validate the annotation for avoided pods', () => {
    const key = 'scheduler.alpha.orch.io/preferAvoidPods';
    const metadata = (value: object) => ({
      metadata: { name: 'x', annotations: { [key]: JSON.stringify(value) } },
    });
    expect(create(node, metadata({ preferAvoidPods: [{ podSignature: {} }] })).errors).toEqual([
      `metadata.annotations.${key}[0].PodSignature: Required value`,
    ]);
    const podController = { controller: true };
    const good = { preferAvoidPods: [{ podSignature: { podController } }] };
    expect(create(node, metadata(good)).errors).toEqual([]);
  });
  it('validate their taints', () => {
    expect(create(node, { spec: { taints: [{ key: 'a', effect: 'Sometimes' }] } }).errors).toEqual([
      'metadata.taints[0].effect: Unsupported value: "Sometimes": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ]);
  });
  it('reject fractions of pods and negative amounts', () => {
    const status = { capacity: { cpu: '-1' }, allocatable: { pods: '1500m' } };
    expect(create(node, { status }).errors).toEqual([
      'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
      'status.allocatable.pods: Invalid value: "1500m": must be an integer',
    ]);
  });
  it('reject changes of CIDRs and provider id', () => {
    const old = create<Node>(node, { spec: { podCIDR: '10.1.0.0/24', providerID: 'p' } }).object;
    const { errors } = update(node, old, (changed: Node) => {
      changed.spec = { podCIDRs: ['10.2.0.0/24'], podCIDR: '10.2.0.0/24', providerID: 'q' };
    });
    expect(errors).toEqual([
      'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
      'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
    ]);
  });
  it('show status and roles', () => {
    const row = cells(node, {
      metadata: { name: 'n', labels: { 'node-role.orch.io/worker': '', 'orch.io/role': 'edge' } },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: '192.0.2.5' }],
      },
    } as Node);
    expect(row).toMatchObject({
      Status: 'Ready,SchedulingDisabled',
      Roles: 'edge,worker',
      'Internal-IP': '192.0.2.5',
      'External-IP': '<none>',
      'OS-Image': '<unknown>',
    });
  });
});

describe('config maps', () => {
  it('require valid and unique keys', () => {
    const { errors } = create<ConfigMap>(configMap, {
      data: { '..': 'x', a: '1' },
      binaryData: { a: base64('1') },
    });
    expect(errors).toEqual([
      'data[..]: Invalid value: "..": must not be \'..\'',
      'data[a]: Invalid value: "a": duplicate of key present in binaryData',
    ]);
  });
  it('have a maximum size', () => {
    expect(create(configMap, { data: { a: 'x'.repeat(1_048_577) } }).errors).toEqual([
      '[]: Too long: must have at most 1048576 bytes',
    ]);
  });
  it('reject changes when immutable', () => {
    const { object } = create<ConfigMap>(configMap, { data: { a: '1' }, immutable: true });
    const { errors } = update(configMap, object, (changed: ConfigMap) => {
      changed.immutable = false;
      changed.data = { a: '2' };
    });
    expect(errors).toEqual([
      'immutable: Forbidden: field is immutable when `immutable` is set',
      'data: Forbidden: field is immutable when `immutable` is set',
    ]);
  });
});

describe('secrets', () => {
  it('merge stringData into data', () => {
    const { object } = create<Secret>(secret, { data: { a: base64('1') }, stringData: { b: 'ü' } });
    expect(object.data).toEqual({ a: base64('1'), b: base64('ü') });
    expect(object).not.toHaveProperty('stringData');
    expect(object.type).toBe('Opaque');
  });
  it.each<[object, string[]]>([
    [{ type: 'orch.io/tls', data: { 'tls.crt': base64('x') } }, ['data[tls.key]: Required value']],
    [
      { type: 'orch.io/basic-auth' },
      ['data[%s][username]: Required value', 'data[%s][password]: Required value'],
    ],
    [
      { type: 'orch.io/dockerconfigjson', data: { '.dockerconfigjson': base64('x') } },
      [
        'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'x\' looking for beginning of value',
      ],
    ],
    [
      { type: 'orch.io/service-account-token' },
      ['metadata.annotations[orch.io/service-account.name]: Required value'],
    ],
  ])('%j', (body, messages) => {
    expect(create(secret, body).errors).toEqual(messages);
  });
});

describe('service accounts', () => {
  it('keep only the names of secret references', () => {
    const { object } = create<ServiceAccount>(serviceAccount, {
      secrets: [{ name: 's', namespace: 'elsewhere', kind: 'Secret' }],
    });
    expect(object.secrets).toEqual([{ name: 's' }]);
  });
});

describe('endpoints', () => {
  it.each<[object, string[]]>([
    [{}, ['subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`']],
    [
      { addresses: [{ ip: 'x' }] },
      [
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
        'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
      ],
    ],
    [
      { addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 1 }, { port: 2 }] },
      ['subsets[0].ports[0].name: Required value', 'subsets[0].ports[1].name: Required value'],
    ],
  ])('%j', (subset, messages) => {
    expect(create(endpoints, { subsets: [subset] }).errors).toEqual(messages);
  });
  it('show three addresses and the number of the others', () => {
    const subset = {
      addresses: ['1', '2', '3', '4'].map((last) => ({ ip: `192.0.2.${last}` })),
      ports: [{ port: 80 }],
    };
    expect(cells(endpoints, { subsets: [subset] } as Endpoints).Endpoints).toBe(
      '192.0.2.1:80,192.0.2.2:80,192.0.2.3:80 + 1 more...',
    );
  });
});

describe('leases', () => {
  it('require a positive duration and no negative transition count', () => {
    const { errors } = create<Lease>(lease, {
      spec: { leaseDurationSeconds: 0, leaseTransitions: -1 },
    });
    expect(errors).toEqual([
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must to greater or equal than 0',
    ]);
  });
});

describe('events', () => {
  const [core, stable] = event.versions;
  const fresh = {
    metadata: { name: 'e' },
    eventTime: '2020-01-01T00:00:00.000000Z',
    reportingController: 'example.com/corpus',
    reportingInstance: 'corpus-1',
    action: 'Binding',
    reason: 'Scheduled',
    type: 'Normal',
    regarding: { kind: 'Pod', namespace: 'ns', name: 'p1' },
    note: 'assigned',
  };
  it('convert between two shapes', () => {
    const { object, errors } = create<Event>(event, fresh, stable);
    expect(errors).toEqual([]);
    expect(object).toMatchObject({
      involvedObject: { name: 'p1' },
      message: 'assigned',
      reportingComponent: 'example.com/corpus',
    });
    expect(stable?.fromStored?.(object)).toMatchObject({ ...fresh, metadata: { name: 'e' } });
  });
  it('have more rules in the stable version', () => {
    const { errors } = create<Event>(event, { ...fresh, type: 'Odd', deprecatedCount: 3 }, stable);
    expect(errors).toEqual([
      'type: Invalid value: "": has invalid value: Odd',
      'count: Invalid value: "": needs to be unset',
    ]);
  });
  it('require an object in their namespace', () => {
    const { errors } = create<Event>(
      event,
      { involvedObject: { namespace: 'other' }, reason: 'r' },
      core,
    );
    expect(errors).toEqual([
      'involvedObject.namespace: Invalid value: "other": does not match event.namespace',
    ]);
  });
  it('show time and reason', () => {
    const row = cells(event, {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', name: 'p1' },
      lastTimestamp: new Date(nowMs - 60_000).toISOString(),
      source: { component: 'agent', host: 'n1' },
    } as Event);
    expect(row).toMatchObject({
      'Last Seen': '60s',
      Object: 'pod/p1',
      Source: 'agent, n1',
      Count: 1,
      'First Seen': '<unknown>',
    });
  });
});
