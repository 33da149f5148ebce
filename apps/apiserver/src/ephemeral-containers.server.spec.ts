/** Containers added to an existing pod by the subresource of an alpha feature. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const pods = '/api/v1/namespaces/default/pods';
const subresource = (name: string) => `${pods}/${name}/ephemeralcontainers`;
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
const apply = { 'content-type': 'application/apply-patch+yaml' };
const container = { name: 'main', image: 'i' };
const debug = { name: 'debug', image: 'busybox', targetContainerName: 'main', stdin: true };

async function accounts(server: RunningServer): Promise<void> {
  await server.must('POST', '/api/v1/namespaces/default/serviceaccounts', {
    metadata: { name: 'default' },
  });
}

function create(server: RunningServer, name: string, spec: object = {}) {
  const body = { metadata: { name }, spec: { containers: [container], ...spec } };
  return server.call('POST', pods, { body });
}

const discovered = async (server: RunningServer) =>
  (await server.must('GET', '/api/v1')).resources.find(
    ({ name }: { name: string }) => name === 'pods/ephemeralcontainers',
  );

describe('a server with ephemeral containers', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start(['--feature-gates=EphemeralContainers=true']);
    await accounts(server);
    for (const name of ['whole', 'patched', 'applied', 'refused']) {
      expect((await create(server, name)).code).toBe(201);
    }
  }, 30_000);

  afterAll(() => server.stop());

  const replace = (name: string, ephemeralContainers: readonly object[], metadata: object = {}) =>
    server.call('PUT', subresource(name), {
      body: { metadata: { name, ...metadata }, ephemeralContainers },
    });

  it('lists the subresource and describes it', async () => {
    expect(await discovered(server)).toEqual({
      name: 'pods/ephemeralcontainers',
      singularName: '',
      namespaced: true,
      kind: 'EphemeralContainers',
      verbs: ['get', 'patch', 'update'],
    });
    const { paths } = await server.must('GET', '/openapi/v2');
    expect(Object.keys(paths)).toContain(
      '/api/v1/namespaces/{namespace}/pods/{name}/ephemeralcontainers',
    );
  });

  it('accepts a list of containers, sets defaults and adds them to the pod', async () => {
    const before = await server.must('GET', subresource('whole'));
    expect(before).toMatchObject({ kind: 'EphemeralContainers', apiVersion: 'v1' });
    expect(before.ephemeralContainers).toEqual([]);
    const response = await replace('whole', [debug]);
    expect(response.code).toBe(200);
    const expected = {
      ...debug,
      imagePullPolicy: 'Always',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
    };
    expect(response.body.ephemeralContainers).toMatchObject([expected]);
    const pod = await server.must('GET', `${pods}/whole`);
    expect(pod.spec.ephemeralContainers).toMatchObject([expected]);
    expect(pod.metadata.resourceVersion).toBe(response.body.metadata.resourceVersion);
    // An update of the pod must include them.
    pod.metadata.labels = { a: 'b' };
    expect((await server.call('PUT', `${pods}/whole`, { body: pod })).code).toBe(200);
    pod.spec.ephemeralContainers = [];
    delete pod.metadata.resourceVersion;
    expect((await server.call('PUT', `${pods}/whole`, { body: pod })).code).toBe(422);
    const gone = await server.call('GET', subresource('missing'));
    expect(gone.body).toMatchObject({ code: 404, message: 'pods "missing" not found' });
  });

  it('merges containers by name, and rejects a stale version', async () => {
    const patch = (headers: Record<string, string>, ephemeralContainers: readonly object[]) =>
      server.call('PATCH', subresource('patched'), { headers, body: { ephemeralContainers } });
    const first = await patch(strategic, [debug]);
    expect(first.code).toBe(200);
    const second = await patch(strategic, [{ name: 'other', image: 'i' }]);
    expect(second.body.ephemeralContainers).toHaveLength(2);
    const stale = await replace('patched', second.body.ephemeralContainers, {
      resourceVersion: first.body.metadata.resourceVersion,
    });
    expect(stale.body).toMatchObject({ code: 409, reason: 'Conflict' });
    const removed = await patch(merge, [{ name: 'other', image: 'i' }]);
    expect(removed.code).toBe(422);
    expect(removed.body.message).toContain(
      'existing ephemeral containers "debug" may not be removed',
    );
  });

  it('records no field owner of applied containers', async () => {
    const before = await server.must('GET', `${pods}/applied`);
    const applied = await server.call('PATCH', `${subresource('applied')}?fieldManager=m`, {
      headers: apply,
      body: { apiVersion: 'v1', kind: 'EphemeralContainers', ephemeralContainers: [debug] },
    });
    expect(applied.code).toBe(200);
    const { metadata, spec } = await server.must('GET', `${pods}/applied`);
    expect(spec.ephemeralContainers).toHaveLength(1);
    expect(metadata.managedFields).toEqual(before.metadata.managedFields);
  });

  it.each([
    ['no name', { name: '' }, 'Required value: ephemeralContainer requires a name'],
    ['no image', { image: '' }, 'spec.ephemeralContainers[0][0].image: Required value'],
    ['a name that is taken', { name: 'main' }, 'spec.ephemeralContainers[0].name: Duplicate value'],
    ['a missing target', { targetContainerName: 'x' }, 'targetContainerName: Not found: "x"'],
    [
      'ports',
      { ports: [{ containerPort: 1 }] },
      'ports: Forbidden: cannot be set for an Ephemeral',
    ],
    ['a hook', { lifecycle: { preStop: { exec: { command: ['a'] } } } }, 'lifecycle: Forbidden'],
    ['limits', { resources: { limits: { cpu: '1' } } }, 'resources: Forbidden'],
  ])('rejects a container with %s', async (_, change, message) => {
    const response = await replace('refused', [{ ...debug, ...change }]);
    expect(response.code).toBe(422);
    expect(response.body.message).toContain(message);
  });

  it('rejects them in a create and in a pod template', async () => {
    const made = await create(server, 'new', { ephemeralContainers: [debug] });
    expect(made.body.message).toContain(
      'spec.ephemeralContainers: Forbidden: cannot be set on create',
    );
    const labels = { a: 'b' };
    const deployment = await server.call('POST', '/apis/apps/v1/namespaces/default/deployments', {
      body: {
        metadata: { name: 'd' },
        spec: {
          selector: { matchLabels: labels },
          template: {
            metadata: { labels },
            spec: { containers: [container], ephemeralContainers: [debug] },
          },
        },
      },
    });
    expect(deployment.body.message).toContain('ephemeral containers not allowed in pod template');
  });
});

describe('a server without ephemeral containers', () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await RunningServer.start();
    await accounts(server);
  }, 30_000);

  afterAll(() => server.stop());

  it('serves no subresource and drops the field', async () => {
    const made = await create(server, 'plain', { ephemeralContainers: [debug] });
    expect(made.code).toBe(201);
    expect(made.body.spec.ephemeralContainers).toBeUndefined();
    expect(await discovered(server)).toBeUndefined();
    expect((await server.call('GET', subresource('plain'))).code).toBe(404);
  });
});
