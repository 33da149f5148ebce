/**
 * The stock JavaScript client in the `kubernetes` dialect: objects patched and applied in every
 * way, and the streams of a pod. `javascript-informer.spec.ts` has its informers and watches.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import {
  ApiException,
  AppsV1Api,
  Attach,
  CoreV1Api,
  Cp,
  Exec,
  KubeConfig,
  KubernetesObjectApi,
  Log,
  PatchStrategy,
  PortForward,
  setHeaderOptions,
  type V1Status,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from './support/cluster.js';
import { eventually } from './support/wait.js';

const cluster = new Cluster({ dialect: 'kubernetes', replicas: 1 });
const config = new KubeConfig();
const namespace = 'default';
let core: CoreV1Api;

beforeAll(async () => {
  await cluster.up();
  config.loadFromFile(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
});

afterAll(() => cluster.destroy());

const as = (strategy: PatchStrategy) => setHeaderOptions('Content-Type', strategy);

async function refusal(call: Promise<unknown>): Promise<ApiException<string>> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiException) return error;
  throw new Error('it was not refused', { cause: error });
}

describe('objects', () => {
  const name = 'settings';

  function patch(body: unknown, strategy: PatchStrategy, more: object = {}) {
    return core.patchNamespacedConfigMap({ name, namespace, body, ...more }, as(strategy));
  }

  it('are created, read, listed by pages and refused when they exist', async () => {
    const body = { metadata: { name, labels: { made: 'here' } }, data: { x: '1' } };
    const created = await core.createNamespacedConfigMap({ namespace, body });
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
    expect(await core.readNamespacedConfigMap({ name, namespace })).toEqual(created);
    const again = await refusal(core.createNamespacedConfigMap({ namespace, body }));
    expect([again.code, JSON.parse(again.body).reason]).toEqual([409, 'AlreadyExists']);
    const second = { metadata: { name: 'settings-2', labels: { made: 'here' } } };
    await core.createNamespacedConfigMap({ namespace, body: second });
    const made = { namespace, labelSelector: 'made=here' };
    const page = await core.listNamespacedConfigMap({ ...made, limit: 1 });
    const token = page.metadata?._continue ?? '';
    expect(token).not.toBe('');
    const rest = await core.listNamespacedConfigMap({ ...made, _continue: token });
    const names = [...page.items, ...rest.items].map(({ metadata }) => metadata?.name);
    expect(names).toEqual([name, 'settings-2']);
  });

  it('are patched by JSON, merge and strategic merge patches', async () => {
    const operations = [
      { op: 'test', path: '/data/x', value: '1' },
      { op: 'add', path: '/data/y', value: '2' },
    ];
    expect((await patch(operations, PatchStrategy.JsonPatch)).data).toEqual({ x: '1', y: '2' });
    const merge = { data: { x: null, z: '3' } };
    expect((await patch(merge, PatchStrategy.MergePatch)).data).toEqual({ y: '2', z: '3' });

    const labels = { app: 'patched' };
    const containers = [{ name: 'a', image: 'a:1' }];
    const template = { metadata: { labels }, spec: { containers } };
    const spec = { replicas: 0, selector: { matchLabels: labels }, template };
    const apps = config.makeApiClient(AppsV1Api);
    const deployment = { metadata: { name: 'patched' }, spec };
    await apps.createNamespacedDeployment({ namespace, body: deployment });
    const body = { spec: { template: { spec: { containers: [{ name: 'b', image: 'b:1' }] } } } };
    const request = { name: 'patched', namespace, body };
    const strategic = as(PatchStrategy.StrategicMergePatch);
    const patched = await apps.patchNamespacedDeployment(request, strategic);
    const images = patched.spec?.template.spec?.containers.map(({ image }) => image);
    expect(images?.toSorted()).toEqual(['a:1', 'b:1']);
    await apps.deleteNamespacedDeployment({ name: 'patched', namespace });
  });

  it('are not patched when a test fails or the version differs', async () => {
    const operations = [{ op: 'test', path: '/data/y', value: 'other' }];
    expect((await refusal(patch(operations, PatchStrategy.JsonPatch))).code).toBe(422);
    const merge = { metadata: { resourceVersion: '1' }, data: { y: '9' } };
    expect((await refusal(patch(merge, PatchStrategy.MergePatch))).code).toBe(409);
  });

  it('are applied with conflicts reported and forced, and fields given up removed', async () => {
    const config = (data: object) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data,
    });
    const apply = (data: object, fieldManager: string, force = false) =>
      patch(config(data), PatchStrategy.ServerSideApply, { fieldManager, force });
    const applied = await apply({ mine: '1' }, 'one');
    expect(applied.data).toEqual({ mine: '1', y: '2', z: '3' });
    const refused = await refusal(apply({ mine: '2' }, 'two'));
    expect([refused.code, JSON.parse(refused.body).details.causes[0]]).toEqual([
      409,
      { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.mine' },
    ]);
    expect((await apply({ mine: '2' }, 'two', true)).data?.mine).toBe('2');
    expect((await apply({ theirs: '1' }, 'two')).data).toEqual({ theirs: '1', y: '2', z: '3' });
  });

  it('are handled by the generic object client', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const spec = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'any', namespace } };
    await objects.create({ ...spec, stringData: { word: 'said' } } as typeof spec);
    const read = (await objects.read(spec)) as typeof spec & { data: object };
    expect(read.data).toEqual({ word: Buffer.from('said').toString('base64') });
    await objects.delete(spec);
    expect((await refusal(objects.read(spec))).code).toBe(404);
  });
});

/** A program that echoes connections, writes a counter to its log, and echoes its input. */
const program = `
const { createServer } = require('node:net');
createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(8080, process.env.POD_IP);
let count = 0;
setInterval(() => console.log('tick ' + ++count), 100);
process.stdin.on('data', (text) => console.log('told ' + text));
`;

describe('streams of a pod', () => {
  const pod = 'talker';
  const container = 'main';
  const megabyte = randomBytes(1024 * 1024);
  const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  let directory: string;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-javascript-'));
    const env = [{ name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } }];
    const command = ['node', '-e', program];
    const containers = [{ name: container, image: 'test/talker', stdin: true, command, env }];
    const body = { metadata: { name: pod }, spec: { containers } };
    await core.createNamespacedPod({ namespace, body });
    await eventually('the pod to be ready', async () => {
      const { status } = await core.readNamespacedPodStatus({ name: pod, namespace });
      return status?.containerStatuses?.[0]?.ready;
    });
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** The text that a stream has received so far. */
  function heard(stream: Readable): () => string {
    let text = '';
    stream.on('data', (chunk) => {
      text += chunk;
    });
    return () => text;
  }

  /** The status of a command that has ended. */
  function exec(command: string[], stdout: Writable | null, stdin: Readable | null) {
    return new Promise<V1Status>((done, fail) => {
      const streams = [stdout, null, stdin] as const;
      new Exec(config).exec(namespace, pod, container, command, ...streams, false, done).then(
        // A status arrives before the end, if at all.
        (socket) => socket.on('close', (code) => fail(new Error(`closed with ${code}`))),
        fail,
      );
    });
  }

  it('run a command that reads all its input, and one with much output', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const sum = buffer(output);
    // The client forwards input once it is connected.
    setImmediate(() => input.end(megabyte));
    expect((await exec(['sha256sum'], output, input)).status).toBe('Success');
    expect((await sum).toString().split(' ')[0]).toBe(digest(megabyte));

    const much = new PassThrough();
    const bytes = buffer(much);
    expect((await exec(['head', '-c', '3000000', '/dev/zero'], much, null)).status).toBe('Success');
    expect(digest(await bytes)).toBe(digest(Buffer.alloc(3_000_000)));
  });

  it('follow a log, and read its end', async () => {
    const log = new Log(config);
    const lines = await eventually('two lines', async () => {
      const end = new PassThrough();
      await log.log(namespace, pod, container, end, { tailLines: 2 });
      const found = (await buffer(end)).toString().trim().split('\n');
      return found.length > 1 && found;
    });
    expect(lines).toHaveLength(2);
    const last = Number(lines[1]!.slice('tick '.length));

    const stream = new PassThrough();
    const said = heard(stream);
    const following = await log.log(namespace, pod, container, stream, { follow: true });
    await eventually('later lines', () => said().includes(`tick ${last + 3}\n`));
    expect(said()).toMatch(/^tick 1\ntick 2\n/);
    following.abort();
  });

  it('refuse the log of a missing container', async () => {
    const reading = new Log(config).log(namespace, pod, 'absent', new PassThrough(), {});
    expect((await refusal(reading)).code).toBe(400);
  });

  it('attach to a container', async () => {
    const output = new PassThrough();
    const input = new PassThrough();
    const said = heard(output);
    const connection = new Attach(config).attach(
      ...([namespace, pod, container, output, null, input, false] as const),
    );
    const socket = await connection;
    // An attached client receives later output only.
    await eventually('the echo', () => {
      input.write('word');
      return said().includes('told word');
    });
    socket.close();
  });

  it('forward a port', async () => {
    const output = new PassThrough();
    const input = new PassThrough();
    let received = Buffer.alloc(0);
    output.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
    });
    const forwarding = new PortForward(config);
    const socket = await forwarding.portForward(namespace, pod, [8080], output, null, input);
    input.write(megabyte);
    await eventually('all bytes to return', () => received.length >= megabyte.length);
    expect(digest(received)).toBe(digest(megabyte));
    if (typeof socket !== 'function') socket.close();
  });

  it('copy a directory both ways', async () => {
    const tree = join(directory, 'tree');
    const there = join(directory, 'there');
    const back = join(directory, 'back');
    for (const path of [join(tree, 'a b'), there]) mkdirSync(path, { recursive: true });
    writeFileSync(join(tree, 'a b', 'megabyte'), megabyte);
    await new Cp(config).cpToPod(namespace, pod, container, tree, there);
    const isThere = (root: string) => () =>
      digest(readFileSync(join(root, 'a b', 'megabyte'))) === digest(megabyte);
    await eventually('the copy in the pod', isThere(there));
    const copying = new Cp(config, new UnpackingExec(config));
    await copying.cpFromPod(namespace, pod, container, '.', back, there);
    await eventually('the copy from the pod', isThere(back));
  });
});

/** Release 1.4.0 of the client requests a compressed archive and does not decompress it. */
class UnpackingExec extends Exec {
  override exec(...args: Parameters<Exec['exec']>): ReturnType<Exec['exec']> {
    const [, , , , stdout] = args;
    if (stdout) {
      const unpacking = createGunzip();
      unpacking.pipe(stdout);
      args[4] = unpacking;
    }
    return super.exec(...args);
  }
}
