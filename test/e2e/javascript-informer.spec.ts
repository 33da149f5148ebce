/**
 * Informers and watches of the stock JavaScript client in the `kubernetes` dialect, over kills of
 * the API server: they resume from their last version, without another list, a missed or a
 * duplicate event.
 */
import {
  CoreV1Api,
  type Informer,
  KubeConfig,
  makeInformer,
  type ObjectCache,
  type V1ConfigMap,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { killApiServer } from './support/kill.js';
import { RandomWriter } from './support/random-writer.js';
import { eventually } from './support/wait.js';

const cluster = new Cluster({ dialect: 'kubernetes', replicas: 1, components: 'apiserver' });
const config = new KubeConfig();
const namespace = 'default';
const path = `/api/v1/namespaces/${namespace}/configmaps`;
const killCount = 2;
const retryMs = 50;
let core: CoreV1Api;
let api: Api;

beforeAll(async () => {
  await cluster.up();
  config.loadFromFile(cluster.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
  api = new Api(cluster);
});

afterAll(async () => {
  await api?.close();
  await cluster.destroy();
});

const lineOf = (verb: string, { metadata }: V1ConfigMap) =>
  `${verb} ${metadata?.name} ${metadata?.resourceVersion}`;
const versionOf = (line: string) => Number(line.split(' ')[2]);

/** An informer that is started again after an error, as its documentation says. */
class RecordedInformer {
  readonly lines: string[] = [];
  readonly lists: V1ConfigMap[][] = [];
  private readonly informer: Informer<V1ConfigMap> & ObjectCache<V1ConfigMap>;
  private running = true;

  constructor(labelSelector?: string) {
    const list = async () => {
      const answer = await core.listNamespacedConfigMap({
        namespace,
        ...(labelSelector !== undefined && { labelSelector }),
      });
      this.lists.push(answer.items);
      return answer;
    };
    this.informer = makeInformer(config, path, list, labelSelector);
    for (const verb of ['add', 'update', 'delete'] as const) {
      this.informer.on(verb, (object) => this.lines.push(lineOf(verb, object)));
    }
    this.informer.on('error', () => {
      if (this.running) setTimeout(() => void this.informer.start(), retryMs);
    });
  }

  start(): Promise<void> {
    return this.informer.start();
  }

  /** The cached objects, as names and versions in order. */
  held(): string[] {
    return this.informer
      .list()
      .map((object) => lineOf('held', object))
      .sort();
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.informer.stop();
  }
}

const verbs: Readonly<Record<string, string>> = {
  ADDED: 'add',
  MODIFIED: 'update',
  DELETED: 'delete',
};

/** All received events, without a cache that would hide duplicates. */
class RecordedWatch {
  readonly lines: string[] = [];
  readonly surprises: string[] = [];
  connectionCount = 0;
  private controller: AbortController | undefined;
  private running = true;

  constructor(private resourceVersion: string) {}

  async start(): Promise<void> {
    this.connectionCount += 1;
    const { resourceVersion } = this;
    const query = { resourceVersion, allowWatchBookmarks: true };
    const take = (type: string, object: V1ConfigMap) => this.take(type, object);
    this.controller = await new Watch(config).watch(path, query, take, () => {
      if (this.running) setTimeout(() => void this.start(), retryMs);
    });
  }

  private take(type: string, object: V1ConfigMap): void {
    const verb = verbs[type];
    if (verb) this.lines.push(lineOf(verb, object));
    else if (type !== 'BOOKMARK') this.surprises.push(`${type} ${JSON.stringify(object)}`);
    this.resourceVersion = object.metadata?.resourceVersion ?? this.resourceVersion;
  }

  stop(): void {
    this.running = false;
    this.controller?.abort();
  }
}

async function listed(labelSelector?: string): Promise<string[]> {
  const selected = labelSelector === undefined ? {} : { labelSelector };
  const { items } = await core.listNamespacedConfigMap({ namespace, ...selected });
  return items.map((object) => lineOf('held', object)).sort();
}

it('informers and watches see every change once, over kills of the API server', async () => {
  for (const name of ['first', 'second']) {
    const metadata = { name, labels: { color: 'red' } };
    await core.createNamespacedConfigMap({ namespace, body: { metadata } });
  }
  const everything = new RecordedInformer();
  const red = new RecordedInformer('color=red');
  await everything.start();
  await red.start();
  const initial = [...everything.lines];
  expect(initial.toSorted()).toEqual((await listed()).map((l) => l.replace('held', 'add')));
  const since = Math.max(...initial.map(versionOf));
  const watch = new RecordedWatch(String(since));
  await watch.start();

  const writers = [new RandomWriter(api, 'w0'), new RandomWriter(api, 'w1')];
  const writeCount = () => writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  for (let kill = 0; kill < killCount; kill += 1) {
    const goal = writeCount() + 100;
    await eventually('writes', () => writeCount() >= goal);
    await killApiServer(cluster, api);
  }
  const goal = writeCount() + 100;
  await eventually('writes after the last kill', () => writeCount() >= goal);
  await Promise.all(writers.map((writer) => writer.stop()));

  // A client that receives this object has received all earlier events.
  const metadata = { name: 'end', labels: { color: 'red' } };
  const end = await core.createNamespacedConfigMap({ namespace, body: { metadata } });
  const last = lineOf('add', end);
  for (const { lines } of [everything, red, watch]) {
    await eventually('the last event', () => lines.includes(last));
  }
  expect(everything.held()).toEqual(await listed());
  expect(red.held()).toEqual(await listed('color=red'));
  await Promise.all([everything.stop(), red.stop()]);
  watch.stop();

  expect(writers.flatMap(({ surprises }) => surprises)).toEqual([]);
  expect(watch.surprises).toEqual([]);
  expect(watch.connectionCount).toBeGreaterThan(killCount);
  // They resumed instead of listing again.
  expect([everything.lists.length, red.lists.length]).toEqual([1, 1]);
  expect(everything.lines.slice(initial.length)).toEqual(watch.lines);
  for (const lines of [watch.lines, red.lines.slice(2)]) {
    const versions = lines.map(versionOf);
    expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  }
  // No acknowledged write is missing.
  const seen = new Set(watch.lines);
  const acknowledged = writers.flatMap((writer) => writer.acknowledged);
  const missing = acknowledged.filter(({ verb, name, resourceVersion }) => {
    const word = verb === 'create' ? 'add' : 'update';
    return resourceVersion !== undefined && !seen.has(`${word} ${name} ${resourceVersion}`);
  });
  expect(missing).toEqual([]);
});
