/** Servers with other feature gates than the default ones. */
import { dialect } from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const services = '/api/v1/namespaces/default/services';
const merge = { 'content-type': 'application/merge-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };

const port = { port: 80, protocol: 'TCP' };
const balancer = (name: string, more: object = {}) => ({
  metadata: { name },
  spec: { type: 'LoadBalancer', ports: [{ ...port, name: 'a' }], ...more },
});

describe('a server without its beta features', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start(['--feature-gates=AllBeta=false,DryRun=false']);
    for (const name of ['c1', 'c2', 'c3']) {
      await server.must('POST', configMaps, { metadata: { name } });
    }
  }, 30_000);

  afterAll(() => server.stop());

  it('lists without pages', async () => {
    const { items, metadata } = await server.must('GET', `${configMaps}?limit=1&continue=x`);
    expect(items.length).toBeGreaterThanOrEqual(3);
    expect(Object.keys(metadata)).toEqual(['resourceVersion']);
  });

  it('compresses no response', async () => {
    const data = { text: 'x'.repeat(300_000) };
    await server.must('POST', configMaps, { metadata: { name: 'large' }, data });
    for (const path of [`${configMaps}/large`, configMaps]) {
      const headers = { 'accept-encoding': 'gzip' };
      const response = await server.call('GET', path, { headers });
      expect(response.headers['content-encoding']).toBeUndefined();
      expect(response.text.length).toBeGreaterThan(300_000);
    }
  });

  it('rejects server-side apply and records no field owners', async () => {
    const path = `${configMaps}/applied`;
    const applied = await server.call('PATCH', `${path}?fieldManager=m`, {
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } },
      headers: apply,
    });
    expect(applied.code).toBe(415);
    const managedFields = [{ manager: 'm', operation: 'Update', apiVersion: 'v1' }];
    const made = await server.must('POST', configMaps, {
      metadata: { name: 'owned', managedFields },
    });
    expect(made.metadata.managedFields).toBeUndefined();
    const replaced = await server.must('PUT', `${configMaps}/owned`, made);
    expect(replaced.metadata.managedFields).toBeUndefined();
  });

  it.each([
    ['POST', configMaps, { metadata: { name: 'dry' } }],
    ['PUT', `${configMaps}/c1`, { metadata: { name: 'c1' } }],
    ['DELETE', `${configMaps}/c1`, undefined],
    ['DELETE', configMaps, undefined],
  ])('rejects dry runs: %s %s', async (method, path, body) => {
    const { code, body: status } = await server.call(method, `${path}?dryRun=All`, { body });
    expect([code, status.message]).toEqual([400, 'the dryRun feature is disabled']);
    expect((await server.call('GET', `${configMaps}/c1`)).code).toBe(200);
  });

  it('rejects a dry run that the body of a delete requests', async () => {
    const options = { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] };
    const { code } = await server.call('DELETE', `${configMaps}/c1`, { body: options });
    expect(code).toBe(400);
    expect((await server.call('GET', `${configMaps}/c1`)).code).toBe(200);
  });

  it('sends no warnings and no storage version hashes', async () => {
    const old = `/apis/${dialect().group('scheduling')}/v1beta1/priorityclasses`;
    expect((await server.call('GET', old)).headers.warning).toBeUndefined();
    const { resources } = await server.must('GET', '/api/v1');
    expect(resources.length).toBeGreaterThan(0);
    for (const resource of resources) expect(resource.storageVersionHash).toBeUndefined();
  });

  it('drops fields of disabled features, and labels no namespace', async () => {
    const labelled = await server.must('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
    expect(labelled.metadata.labels).toBeUndefined();
    const made = await server.must('POST', services, {
      metadata: { name: 's' },
      spec: { ports: [port], ipFamilies: ['IPv4'], ipFamilyPolicy: 'PreferDualStack' },
    });
    expect(made.spec.ipFamilies).toBeUndefined();
    expect(made.spec.ipFamilyPolicy).toBeUndefined();
    expect(made.spec.clusterIPs).toEqual([made.spec.clusterIP]);
    const patched = await server.call('PATCH', `${services}/s`, {
      body: { metadata: { labels: { a: 'b' } } },
      headers: merge,
    });
    expect(patched.code).toBe(200);
    expect(patched.body.spec.clusterIP).toBe(made.spec.clusterIP);
    const { spec } = await server.must(
      'POST',
      '/apis/apps/v1/namespaces/default/deployments',
      deployment(),
    );
    const [container] = spec.template.spec.containers;
    expect(container.volumeMounts[0].subPath).toBe('kept');
    expect(spec.template.spec.securityContext).toEqual({});
    expect(spec.template.spec.setHostnameAsFQDN).toBeUndefined();
    expect(spec.template.metadata.annotations).toEqual({ other: 'kept' });
  });

  it('drops fields of storage, and claims cannot grow', async () => {
    const storage = `/apis/${dialect().apiVersion('storage', 'v1')}`;
    const driver = await server.must('POST', `${storage}/csidrivers`, {
      metadata: { name: 'd' },
      spec: { requiresRepublish: true, tokenRequests: [{ audience: 'a' }], storageCapacity: true },
    });
    expect(driver.spec).toEqual({ attachRequired: true, podInfoOnMount: false });
    const expandable = { metadata: { name: 'c' }, provisioner: 'p', allowVolumeExpansion: true };
    const made = await server.must('POST', `${storage}/storageclasses`, expandable);
    expect(made.allowVolumeExpansion).toBeUndefined();
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await server.must('POST', claims, { metadata: { name: 'c' }, spec });
    const bind = { phase: 'Bound', conditions: [{ type: 'Resizing', status: 'True' }] };
    const patch = (path: string, body: object) =>
      server.call('PATCH', path, { body, headers: merge });
    const bound = await patch(`${claims}/c/status`, { status: bind });
    expect([bound.code, bound.body.status]).toEqual([200, { phase: 'Bound' }]);
    const grown = await patch(`${claims}/c`, {
      spec: { resources: { requests: { storage: '2Gi' } } },
    });
    expect([grown.code, grown.body.message]).toEqual([
      422,
      expect.stringMatching(/spec: Forbidden: field is immutable after creation$/),
    ]);
  });

  it('rejects a second range of service addresses', async () => {
    const flags = [
      '--feature-gates=IPv6DualStack=false',
      '--service-cluster-ip-range=10.96.0.0/16,fd00::/108',
    ];
    await expect(RunningServer.start(flags)).rejects.toThrow(/needs the feature gate/);
  });
});

function deployment(): object {
  const labels = { app: 'a' };
  const appArmor = dialect().key('main', 'container.apparmor.security.beta');
  return {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels,
          annotations: { [appArmor]: 'runtime/default', other: 'kept' },
        },
        spec: {
          setHostnameAsFQDN: true,
          securityContext: { fsGroupChangePolicy: 'Always' },
          volumes: [{ name: 'v', emptyDir: {} }],
          containers: [
            {
              name: 'main',
              image: 'i',
              volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'kept' }],
            },
          ],
        },
      },
    },
  };
}

describe('a server with its alpha features', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start(['--feature-gates=AllAlpha=true']);
  }, 30_000);

  afterAll(() => server.stop());

  it('allocates node ports of load balancers unless the spec disables them', async () => {
    const { spec } = await server.must('POST', services, balancer('with'));
    expect(spec.allocateLoadBalancerNodePorts).toBe(true);
    expect(spec.ports[0].nodePort).toBeGreaterThan(0);
    const without = balancer('without', { allocateLoadBalancerNodePorts: false });
    const { spec: bare } = await server.must('POST', services, without);
    expect(bare.allocateLoadBalancerNodePorts).toBe(false);
    expect(bare.ports[0].nodePort).toBeUndefined();
    const plain = {
      metadata: { name: 'plain' },
      spec: { ports: [port], allocateLoadBalancerNodePorts: true },
    };
    const { code, body } = await server.call('POST', services, { body: plain });
    expect(code).toBe(422);
    expect(body.message).toContain("may only be used when `type` is 'LoadBalancer'");
  });

  it('stores the immutable class of a load balancer until its type changes', async () => {
    await server.must('POST', services, balancer('classy', { loadBalancerClass: 'a.b/c' }));
    const patch = (spec: object) =>
      server.call('PATCH', `${services}/classy`, { body: { spec }, headers: merge });
    const changed = await patch({ loadBalancerClass: 'a.b/d' });
    expect([changed.code, changed.body.message]).toEqual([
      422,
      expect.stringContaining('spec.loadBalancerClass: Invalid value: "a.b/d": may not change'),
    ]);
    const { spec } = (await patch({ type: 'ClusterIP' })).body;
    expect(spec.loadBalancerClass).toBeUndefined();
    expect(spec.allocateLoadBalancerNodePorts).toBeUndefined();
    const odd = await server.call('POST', services, {
      body: balancer('odd', { loadBalancerClass: '/' }),
    });
    expect(odd.code).toBe(422);
  });

  it('stores a data source of any kind', async () => {
    const dataSource = { apiGroup: 'example.com', kind: 'Tape', name: 't' };
    const resources = { requests: { storage: '1Gi' } };
    const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
    const { spec } = await server.must('POST', claims, {
      metadata: { name: 'taped' },
      spec: { accessModes: ['ReadWriteOnce'], resources, dataSource },
    });
    expect(spec.dataSource).toEqual(dataSource);
  });

  it('accepts a load balancer with several protocols', async () => {
    const ports = [
      { port: 53, protocol: 'TCP', name: 'a' },
      { port: 53, protocol: 'UDP', name: 'b' },
    ];
    const { spec } = await server.must('POST', services, balancer('mixed', { ports }));
    expect(spec.ports).toHaveLength(2);
  });
});

describe('a server with the default feature gates', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start();
  }, 30_000);

  afterAll(() => server.stop());

  it('drops alpha fields', async () => {
    const { spec } = await server.must(
      'POST',
      services,
      balancer('b', { loadBalancerClass: 'a.b/c', allocateLoadBalancerNodePorts: false }),
    );
    expect(spec.loadBalancerClass).toBeUndefined();
    expect(spec.allocateLoadBalancerNodePorts).toBeUndefined();
    expect(spec.ports[0].nodePort).toBeGreaterThan(0);
  });

  const group = dialect().group('scheduling');
  const classes = (version: string) => `/apis/${group}/${version}/priorityclasses`;

  it.each([
    ['GET', '', undefined, 200],
    ['GET', '?watch=1&timeoutSeconds=1', undefined, 200],
    ['GET', '/none', undefined, 404],
    ['POST', '', { metadata: { name: 'p' }, value: 1 }, 201],
    ['POST', '?dryRun=no', { metadata: { name: 'q' }, value: 1 }, 422],
  ])('warns of a deprecated version: %s %s', async (method, path, body, expected) => {
    const response = await server.call(method, `${classes('v1beta1')}${path}`, { body });
    expect(response.code).toBe(expected);
    expect(response.headers.warning).toBe(
      `299 - "${group}/v1beta1 PriorityClass is deprecated in v1.14+, unavailable in v1.22+; use ${group}/v1 PriorityClass"`,
    );
  });

  it('does not warn of the current version', async () => {
    expect((await server.call('GET', classes('v1'))).headers.warning).toBeUndefined();
  });
});
