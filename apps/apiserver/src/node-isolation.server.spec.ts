/**
 * With the credentials of one node: no secret, config map, volume or token of pods on other nodes
 * can be read, and no other node or its pods can be changed. Covers every resource and verb.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const team = '/api/v1/namespaces/team';
const storage = '/apis/storage.orch.io/v1';
const leases = '/apis/coordination.orch.io/v1/namespaces/orch-node-lease/leases';
const asNode1 = {
  'impersonate-user': 'system:node:node-1',
  'impersonate-group': 'system:nodes',
};
/** The suffixes of all objects: of the pod on node 1, of the pod on node 2, of no pod. */
const owners = ['1', '2', '3'];

let server: RunningServer;

/** Sends a request with the user and group of node 1. */
function asNode(method: string, path: string, body?: unknown, type?: string) {
  const headers = { ...asNode1, ...(type !== undefined && { 'content-type': type }) };
  return server.call(method, path, { body, headers });
}

async function createObjects(owner: string): Promise<void> {
  const name = `x-${owner}`;
  const node = `node-${owner}`;
  await server.must('POST', '/api/v1/nodes', { metadata: { name: node } });
  await server.must('POST', `${team}/serviceaccounts`, { metadata: { name } });
  await server.must('POST', `${team}/secrets`, { metadata: { name }, stringData: { a: 'b' } });
  await server.must('POST', `${team}/configmaps`, { metadata: { name }, data: { a: 'b' } });
  const capacity = { requests: { storage: '1Gi' } };
  await server.must('POST', `${team}/persistentvolumeclaims`, {
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: capacity, volumeName: name },
  });
  await server.must('POST', '/api/v1/persistentvolumes', {
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      hostPath: { path: '/x' },
      claimRef: { namespace: 'team', name },
    },
  });
  await server.must('POST', `${storage}/volumeattachments`, {
    metadata: { name },
    spec: { attacher: 'a', nodeName: node, source: { persistentVolumeName: name } },
  });
  await server.must('POST', leases, { metadata: { name: node }, spec: { holderIdentity: node } });
  await server.must('POST', `${storage}/csinodes`, {
    metadata: { name: node },
    spec: { drivers: [] },
  });
}

async function createPod(owner: string): Promise<void> {
  const name = `x-${owner}`;
  await server.must('POST', `${team}/pods`, {
    metadata: { name },
    spec: {
      nodeName: `node-${owner}`,
      serviceAccountName: name,
      automountServiceAccountToken: false,
      containers: [{ name: 'c', image: 'i', envFrom: [{ configMapRef: { name } }] }],
      volumes: [
        { name: 's', secret: { secretName: name } },
        { name: 'c', persistentVolumeClaim: { claimName: name } },
      ],
    },
  });
}

beforeAll(async () => {
  server = await RunningServer.start([
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
  ]);
  await server.must('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
  for (const owner of owners) await createObjects(owner);
  for (const owner of owners.slice(0, 2)) await createPod(owner);
});

afterAll(() => server.stop());

const dependencies = [
  `${team}/secrets`,
  `${team}/configmaps`,
  `${team}/persistentvolumeclaims`,
  '/api/v1/persistentvolumes',
  `${storage}/volumeattachments`,
];
/** Kinds whose agents read them in the bulk of their own objects by name. */
const watchable = dependencies.slice(0, 2);

describe('a node', () => {
  it.each(dependencies)('reads only what its own pods refer to: %s', async (collection) => {
    expect((await asNode('GET', `${collection}/x-1`)).code).toBe(200);
    for (const owner of owners.slice(1)) {
      const name = `x-${owner}`;
      const onlyName = `fieldSelector=metadata.name%3D${name}`;
      const watchCollection = collection.replace('/v1/', '/v1/watch/');
      for (const path of [
        `${collection}/${name}`,
        `${collection}/${name}/`,
        `${collection}?${onlyName}`,
        `${collection}?watch=1&timeoutSeconds=1&${onlyName}`,
        `${watchCollection}/${name}?timeoutSeconds=1`,
        `${watchCollection}?timeoutSeconds=1&${onlyName}`,
      ]) {
        expect([path, (await asNode('GET', path)).code]).toEqual([path, 403]);
      }
    }
    for (const path of [
      collection,
      `${collection}?watch=1&timeoutSeconds=1`,
      `${collection}?fieldSelector=metadata.name%21%3Dx-1`,
      `${collection}?labelSelector=a`,
      collection.replace('/namespaces/team', ''),
    ]) {
      expect([path, (await asNode('GET', path)).code]).toEqual([path, 403]);
    }
  });

  it.each(watchable)('lists its own objects by name: %s', async (collection) => {
    const { code, body } = await asNode('GET', `${collection}?fieldSelector=metadata.name%3Dx-1`);
    expect(code).toBe(200);
    const items: { metadata: { name: string } }[] = body.items;
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['x-1']);
  });

  it('gets tokens only of accounts of its own pods, bound to these pods', async () => {
    const podUid = async (name: string) =>
      (await server.must('GET', `${team}/pods/${name}`)).metadata.uid;
    const token = async (account: string, pod?: string) => {
      const boundObjectRef = pod && {
        ...{ kind: 'Pod', apiVersion: 'v1', name: pod, uid: await podUid(pod) },
      };
      const spec = { audiences: ['api'], ...(boundObjectRef && { boundObjectRef }) };
      return (await asNode('POST', `${team}/serviceaccounts/${account}/token`, { spec })).code;
    };
    expect(await token('x-1', 'x-1')).toBe(201);
    expect(await token('x-1')).toBe(403);
    expect(await token('x-1', 'x-2')).toBe(403);
    expect(await token('x-2', 'x-2')).toBe(403);
    expect(await token('x-3')).toBe(403);
  });
});

interface Resource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly kind: string;
}

interface Question {
  readonly label: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
}

/** The name of an object that does not belong to node 1. */
function foreignName(plural: string): string {
  return ['nodes', 'leases', 'csinodes'].includes(plural) ? 'node-2' : 'x-2';
}

const mergePatch = 'application/merge-patch+json';
const changed = { metadata: { labels: { changed: 'by-node-1' } } };

/** Every verb on the resource, about an object that does not belong to node 1. */
async function questionsAbout(groupVersion: string, resource: Resource): Promise<Question[]> {
  const [plural = '', subresource] = resource.name.split('/');
  const prefix = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
  const namespace = plural === 'leases' ? 'orch-node-lease' : 'team';
  const collection = `${prefix}${resource.namespaced ? `/namespaces/${namespace}` : ''}/${plural}`;
  const name = foreignName(plural);
  const object = `${collection}/${name}${subresource === undefined ? '' : `/${subresource}`}`;
  const { code, body: current } = await server.call('GET', object);
  const asked = (verb: string, method: string, path: string, body?: unknown, type?: string) => ({
    ...{ label: `${verb} ${resource.name} ${groupVersion.split('/')[0]}`, method, path, body },
    ...(type !== undefined && { type }),
  });
  const stored = code === 200 && current?.metadata ? current : { metadata: { name } };
  const update = { ...stored, metadata: { ...stored.metadata, ...changed.metadata } };
  const named = [
    asked('get', 'GET', object),
    asked('update', 'PUT', object, update),
    asked('patch', 'PATCH', object, changed, mergePatch),
    asked('delete', 'DELETE', object),
  ];
  if (subresource !== undefined) return [...named, asked('create', 'POST', object, stored)];
  const { spec } = stored;
  return [
    ...named,
    asked('create', 'POST', collection, { metadata: { name: `${name}-new` }, spec }),
    asked('list', 'GET', collection),
    asked('watch', 'GET', `${collection}?watch=1&timeoutSeconds=1`),
    asked('deletecollection', 'DELETE', collection),
  ];
}

async function allQuestions(): Promise<Question[]> {
  const { groups } = await server.must('GET', '/apis');
  const versions: string[] = groups.flatMap((group: { versions: { groupVersion: string }[] }) =>
    group.versions.map(({ groupVersion }) => groupVersion),
  );
  const questions: Question[] = [];
  for (const groupVersion of ['v1', ...versions]) {
    const path = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
    const { resources } = await server.must('GET', path);
    for (const resource of resources as Resource[]) {
      questions.push(...(await questionsAbout(groupVersion, resource)));
    }
  }
  return questions;
}

/** Every object that belongs to another node, or to no node, as the administrator sees it. */
async function foreignObjects(): Promise<unknown[]> {
  const collections = [
    ...dependencies,
    ...['/api/v1/nodes', `${team}/pods`, `${team}/serviceaccounts`],
    ...[leases, `${storage}/csinodes`],
  ];
  const lists = [];
  for (const collection of collections) {
    const { items } = await server.must('GET', collection);
    lists.push(
      ...items.filter((item: { metadata: { name: string } }) => !/-1$/.test(item.metadata.name)),
    );
  }
  return lists;
}

/** What the role of nodes names without a restriction to the node; none of it is a secret. */
const allowedToEveryNode = [
  'create certificatesigningrequests certificates.orch.io',
  'create events v1',
  'create localsubjectaccessreviews authorization.orch.io',
  'create selfsubjectaccessreviews authorization.orch.io',
  'create selfsubjectrulesreviews authorization.orch.io',
  'create subjectaccessreviews authorization.orch.io',
  'create tokenreviews authentication.orch.io',
  'get certificatesigningrequests certificates.orch.io',
  'get csidrivers storage.orch.io',
  'get endpoints v1',
  'get nodes v1',
  'get pods v1',
  'get runtimeclasses node.orch.io',
  'get services v1',
  'list certificatesigningrequests certificates.orch.io',
  'list csidrivers storage.orch.io',
  'list nodes v1',
  'list pods v1',
  'list runtimeclasses node.orch.io',
  'list services v1',
  'patch events v1',
  'update events v1',
  'watch certificatesigningrequests certificates.orch.io',
  'watch csidrivers storage.orch.io',
  'watch nodes v1',
  'watch pods v1',
  'watch runtimeclasses node.orch.io',
  'watch services v1',
];

describe('every resource and verb', () => {
  it('is denied to a node about objects of others, except what its role names', async () => {
    const before = await foreignObjects();
    const questions = await allQuestions();
    expect(questions.length).toBeGreaterThan(500);
    const allowed = new Set<string>();
    for (const { label, method, path, body, type } of questions) {
      const { code } = await asNode(method, path, body, type);
      // Every other code, 404 and 422 included, comes after authorization.
      if (code !== 403 && code !== 405) allowed.add(label);
    }
    expect([...allowed].sort()).toEqual(allowedToEveryNode);
    expect(await foreignObjects()).toEqual(before);
  }, 180_000);
});
