/** The fields of alpha features, on servers with and without them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const services = '/api/v1/namespaces/default/services';
const port = { port: 80, protocol: 'TCP' };
const networking = `/apis/${dialect().group('networking')}/v1`;
const ingressClasses = `${networking}/ingressclasses`;
const policies = `${networking}/namespaces/default/networkpolicies`;
const slices = `/apis/${dialect().group('discovery')}/v1/namespaces/default/endpointslices`;
const templates = '/api/v1/namespaces/default/podtemplates';

const template = (container: object) => ({
  metadata: { name: 'alpha' },
  template: {
    metadata: { labels: { a: 'b' } },
    spec: { containers: [{ name: 'c', image: 'i', ...container }] },
  },
});
const container = 'template.spec.containers.0';
const slice = (name: string, endpoint: object) => ({
  metadata: { name },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }],
  ports: [],
});

interface AlphaFields {
  readonly gate: string;
  readonly path: string;
  readonly object: () => object;
  /** Their paths in the object. */
  readonly fields: readonly string[];
  /** A field with an owner of its own; absent: an atomic list contains them. */
  readonly owned?: string;
  readonly isImmutable?: true;
}

/** Objects that use alpha features. */
const alphaFields: readonly AlphaFields[] = [
  {
    gate: 'EndpointSliceTerminatingCondition',
    path: slices,
    object: () => slice('conditions', { conditions: { serving: true, terminating: true } }),
    fields: ['endpoints.0.conditions.serving', 'endpoints.0.conditions.terminating'],
  },
  {
    gate: 'TopologyAwareHints',
    path: slices,
    object: () => slice('hints', { hints: { forZones: [{ name: 'a' }] } }),
    fields: ['endpoints.0.hints'],
  },
  {
    gate: 'IngressClassNamespacedParams',
    path: ingressClasses,
    object: () => ({
      metadata: { name: 'alpha' },
      spec: {
        controller: 'a.b/c',
        parameters: { kind: 'P', name: 'p', scope: 'Namespace', namespace: 'n' },
      },
    }),
    fields: ['spec.parameters.scope', 'spec.parameters.namespace'],
    owned: 'scope',
  },
  {
    gate: 'NetworkPolicyEndPort',
    path: policies,
    object: () => ({
      metadata: { name: 'alpha' },
      spec: { podSelector: {}, egress: [{ ports: [{ port: 1, endPort: 2, protocol: 'TCP' }] }] },
    }),
    fields: ['spec.egress.0.ports.0.endPort'],
  },
  {
    gate: 'ProbeTerminationGracePeriod',
    path: templates,
    object: () => ({
      ...template({ livenessProbe: { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 } }),
      metadata: { name: 'probe' },
    }),
    fields: [`${container}.livenessProbe.terminationGracePeriodSeconds`],
  },
  {
    gate: 'ProcMountType',
    path: templates,
    object: () => template({ securityContext: { procMount: 'Unmasked' } }),
    fields: [`${container}.securityContext.procMount`],
  },
  {
    gate: 'ServiceInternalTrafficPolicy',
    path: services,
    object: () => ({
      metadata: { name: 'internal' },
      spec: { ports: [port], internalTrafficPolicy: 'Local' },
    }),
    fields: ['spec.internalTrafficPolicy'],
    owned: 'internalTrafficPolicy',
  },
  {
    gate: 'ServiceTopology',
    path: services,
    object: () => ({ metadata: { name: 'keys' }, spec: { ports: [port], topologyKeys: ['*'] } }),
    fields: ['spec.topologyKeys'],
    owned: 'topologyKeys',
  },
  {
    gate: 'ServiceLoadBalancerClass',
    path: services,
    object: () => ({
      metadata: { name: 'class' },
      spec: {
        type: 'LoadBalancer',
        ports: [{ ...port, name: 'a' }],
        loadBalancerClass: 'a.b/c',
      },
    }),
    fields: ['spec.loadBalancerClass'],
    owned: 'loadBalancerClass',
    isImmutable: true,
  },
];

const policyPort = (entry: object) => ({
  metadata: { name: 'invalid' },
  spec: { podSelector: {}, ingress: [{ ports: [entry] }] },
});
const classOf = (parameters: object) => ({
  metadata: { name: 'invalid' },
  spec: { controller: 'a.b/c', parameters: { kind: 'P', name: 'p', ...parameters } },
});
const withKeys = (keys: readonly string[]) => ({
  metadata: { name: 'invalid' },
  spec: { ports: [port], topologyKeys: keys },
});

const invalidAlphaFields: readonly [string, object, readonly string[]][] = [
  [policies, policyPort({ port: 5, endPort: 4 }), ['must be greater than or equal to `port`']],
  [policies, policyPort({ endPort: 4 }), ['when `port` is not specified']],
  [policies, policyPort({ port: 'http', endPort: 4 }), ['when `port` is non-numeric']],
  [ingressClasses, classOf({ scope: 'Node' }), ['supported values: "Cluster", "Namespace"']],
  [ingressClasses, classOf({ scope: 'Namespace' }), ['parameters.namespace: Required value']],
  [
    ingressClasses,
    classOf({ scope: 'Cluster', namespace: 'n' }),
    ['parameters.namespace: Forbidden'],
  ],
  [services, withKeys(['*', 'a']), ['must be the last value specified']],
  [services, withKeys(['a', 'a']), ['Duplicate value: "a"']],
  [
    slices,
    slice('invalid', { hints: { forZones: [{ name: 'a' }, { name: 'a' }, { name: '-' }] } }),
    ['forZones[1].name: Duplicate value', 'forZones[2].name: Invalid value'],
  ],
];

/** The value at a dotted path; numbers are positions in lists. */
function valueAt(object: object, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], object);
}

function remove(object: object, path: string): void {
  const names = path.split('.');
  const parent = valueAt(object, names.slice(0, -1).join('.')) as Record<string, unknown>;
  delete parent[names.at(-1)!];
}

function ownedFields({ metadata }: { metadata: { managedFields?: object } }): string {
  return JSON.stringify(metadata.managedFields);
}

describe('a server with its alpha features', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start(['--feature-gates=AllAlpha=true']);
  }, 30_000);

  afterAll(() => server.stop());

  it.each(alphaFields)('serves the fields of $gate', async ({ path, object, fields, owned }) => {
    const made = await server.must('POST', `${path}?fieldManager=client`, object());
    for (const field of fields) expect(valueAt(made, field)).toBeDefined();
    if (owned) expect(ownedFields(made)).toContain(`"f:${owned}"`);
  });

  it.each(invalidAlphaFields)('validates alpha fields: %s', async (path, object, messages) => {
    const { code, body } = await server.call('POST', path, { body: object });
    expect(code).toBe(422);
    for (const message of messages) expect(body.message).toContain(message);
  });

  it('defaults alpha fields', async () => {
    const { spec } = await server.must('POST', services, {
      metadata: { name: 'defaulted' },
      spec: { ports: [port] },
    });
    expect(spec.internalTrafficPolicy).toBe('Cluster');
    const parameters = { kind: 'P', name: 'p' };
    const made = await server.must('POST', ingressClasses, {
      metadata: { name: 'defaulted' },
      spec: { controller: 'a.b/c', parameters },
    });
    expect(made.spec.parameters).toEqual({ ...parameters, scope: 'Cluster' });
  });
});

describe('a server without alpha features', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start();
  }, 30_000);

  afterAll(() => server.stop());

  it.each(alphaFields)(
    'drops the fields of $gate and records no owner of them',
    async ({ path, object, fields, owned }) => {
      const made = await server.must('POST', `${path}?fieldManager=client`, object());
      const applied = await server.call(
        'PATCH',
        `${path}/${made.metadata.name}?fieldManager=a&force=true`,
        {
          body: { ...object(), apiVersion: made.apiVersion, kind: made.kind },
          headers: { 'content-type': 'application/apply-patch+yaml' },
        },
      );
      expect(applied.code).toBe(200);
      for (const result of [made, applied.body]) {
        for (const field of fields)
          expect([undefined, 'Default']).toContain(valueAt(result, field));
        if (owned) expect(ownedFields(result)).not.toContain(`"f:${owned}"`);
      }
    },
  );
});

describe('a server whose alpha features were disabled', () => {
  let directory: string;
  let server: RunningServer;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-gates-'));
    const dataDir = join(directory, 'data');
    const before = await RunningServer.start(['--feature-gates=AllAlpha=true'], { dataDir });
    try {
      for (const { path, object } of alphaFields) {
        await before.must('POST', `${path}?fieldManager=client`, object());
      }
    } finally {
      await before.stop();
    }
    server = await RunningServer.start([], { dataDir });
  }, 60_000);

  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  it.each(alphaFields)(
    'retains the stored fields of $gate in updates, until one removes them',
    async ({ path, object, fields, owned, isImmutable }) => {
      const { metadata } = object() as { metadata: { name: string } };
      const address = `${path}/${metadata.name}`;
      const stored = await server.must('GET', address);
      stored.metadata.labels = { changed: 'yes' };
      const updated = await server.must('PUT', `${address}?fieldManager=client`, stored);
      for (const field of fields) expect(valueAt(updated, field)).toEqual(valueAt(stored, field));
      if (owned) expect(ownedFields(updated)).toContain(`"f:${owned}"`);
      if (isImmutable) return;
      for (const field of fields) remove(updated, field);
      const removed = await server.must('PUT', `${address}?fieldManager=client`, updated);
      for (const field of fields) expect([undefined, 'Default']).toContain(valueAt(removed, field));
      // Now that the stored object does not use the feature, its fields are dropped.
      stored.metadata = removed.metadata;
      const again = await server.must('PUT', `${address}?fieldManager=client`, stored);
      for (const field of fields) expect([undefined, 'Default']).toContain(valueAt(again, field));
      if (owned) expect(ownedFields(again)).not.toContain(`"f:${owned}"`);
    },
  );
});
