/**
 * The guarantees of watches: every change after a list, once and in order for each selector, over
 * any number of kills of the API server; the same exact lists before and after; a clear error for
 * readers that are too late or too slow.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { apiServerProcess, killApiServer } from './support/kill.js';
import { residentBytes } from './support/pods.js';
import { RandomWriter } from './support/random-writer.js';
import { eventually } from './support/wait.js';
import { type Event, openWatch, WatchClient, type WatchedObject } from './support/watch-client.js';

interface List {
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  items: WatchedObject[];
}

const path = '/api/v1/namespaces/default/configmaps';
const killCount = 3;

const rvOf = ({ object }: Event) => Number(object.metadata.resourceVersion);

/** The expected events of a selector, computed from all events. */
function projected(
  initial: readonly WatchedObject[],
  all: readonly Event[],
  selects: (object: WatchedObject) => boolean,
): string[] {
  const shown = new Set(initial.filter(selects).map(({ metadata }) => metadata.uid));
  const lines: string[] = [];
  for (const event of all) {
    const { uid, name, resourceVersion } = event.object.metadata;
    const before = shown.has(uid);
    const after = event.type !== 'DELETED' && selects(event.object);
    if (after) shown.add(uid);
    else shown.delete(uid);
    if (!before && !after) continue;
    const type = after ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED';
    lines.push(`${type} ${name} ${resourceVersion}`);
  }
  return lines;
}

const lineOf = ({ type, object: { metadata } }: Event) =>
  `${type} ${metadata.name} ${metadata.resourceVersion}`;

describe('watches over kills of the API server', () => {
  const cluster = new Cluster({ dialect: 'orch', replicas: 1, components: 'apiserver' });
  let api: Api;
  const listNow = async (query = '') => (await api.call<List>('GET', `${path}${query}`)).body;

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
  });

  afterAll(async () => {
    await api?.close();
    await cluster.destroy();
  });

  it('deliver every change once and in order, for each selector', async () => {
    const seeds = Array.from({ length: 6 }, (_, i) => ({
      metadata: { name: `w0-${i}`, labels: { color: i % 2 ? 'red' : 'green' } },
    }));
    for (const seed of seeds) expect((await api.call('POST', path, seed)).status).toBe(201);
    const start = await listNow();
    const from = (target: object) =>
      new WatchClient(cluster, { path, ...target }, start.metadata.resourceVersion);
    const everything = from({});
    const overHttp2 = from({ http2: true });
    const everywhere = from({ path: '/api/v1/configmaps', query: { timeoutSeconds: '1' } });
    const selections = [
      { query: { labelSelector: 'color=red' }, color: (c: string) => c === 'red' },
      { query: { labelSelector: 'color!=red', timeoutSeconds: '2' }, color: notRed },
      { query: { labelSelector: 'color in (green,red)' }, http2: true, color: notBlue },
    ].map(({ color, ...target }) => ({ color, watch: from(target) }));
    const one = from({ query: { fieldSelector: 'metadata.name=w0-1' } });
    const watches = [everything, overHttp2, everywhere, one, ...selections.map((s) => s.watch)];

    const writers = Array.from({ length: 4 }, (_, i) => new RandomWriter(api, `w${i}`));
    const writeCount = () =>
      writers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
    for (let kill = 0; kill < killCount; kill += 1) {
      const goal = writeCount() + 150;
      await eventually('writes', () => writeCount() >= goal);
      await killApiServer(cluster, api);
    }
    const goal = writeCount() + 150;
    await eventually('writes after the last kill', () => writeCount() >= goal);
    await Promise.all(writers.map((writer) => writer.stop()));
    // A watch that receives this object has received all earlier events.
    const labels = { color: 'red' };
    for (const name of ['w0-1', 'end']) {
      await api.call('DELETE', `${path}/${name}`);
      const { status } = await api.call('POST', path, { metadata: { name, labels } });
      expect(status).toBe(201);
    }
    const end = await listNow();
    const lastOf = (name: string) =>
      end.items.find(({ metadata }) => metadata.name === name)!.metadata.resourceVersion;
    const isEnd = (w: WatchClient) => w === one || w === selections[1]!.watch;
    await Promise.all(watches.filter((w) => !isEnd(w)).map((w) => w.reaches(lastOf('end'))));
    await one.reaches(lastOf('w0-1'));
    const all = everything.events;
    const expectedNotRed = projected(start.items, all, (o) => notRed(o.metadata.labels?.color));
    await eventually('the last events', () => {
      return selections[1]!.watch.events.length >= expectedNotRed.length;
    });
    await Promise.all(watches.map((watch) => watch.stop()));

    expect(writers.flatMap(({ surprises }) => surprises)).toEqual([]);
    expect(watches.flatMap(({ refusals }) => refusals)).toEqual([]);
    for (const watch of watches) expect(watch.streamCount).toBeGreaterThan(killCount);

    // Ordered and without duplicates, each of the type that the previous state implies.
    const state = new Map(start.items.map((object) => [object.metadata.name, object]));
    let last = Number(start.metadata.resourceVersion);
    for (const event of all) {
      expect(rvOf(event)).toBeGreaterThan(last);
      last = rvOf(event);
      const { name, uid } = event.object.metadata;
      const before = state.get(name);
      expect([name, event.type]).toEqual([
        name,
        before ? (event.type === 'DELETED' ? 'DELETED' : 'MODIFIED') : 'ADDED',
      ]);
      if (before) expect(uid).toBe(before.metadata.uid);
      if (event.type === 'DELETED') state.delete(name);
      else state.set(name, event.object);
    }
    // The events lead to the final list and include all acknowledged writes.
    const names = [...state.keys()].sort();
    expect(names).toEqual(end.items.map(({ metadata }) => metadata.name));
    for (const { kind: _, ...item } of end.items as (WatchedObject & { apiVersion?: string })[]) {
      expect(state.get(item.metadata.name)).toMatchObject(item);
    }
    const byVersion = new Map(all.map((event) => [event.object.metadata.resourceVersion, event]));
    const deleted = new Set(
      all.filter(({ type }) => type === 'DELETED').map(({ object }) => object.metadata.uid),
    );
    for (const write of writers.flatMap(({ acknowledged }) => acknowledged)) {
      if (write.verb === 'delete') expect(deleted.has(write.uid)).toBe(true);
      else {
        expect(byVersion.get(write.resourceVersion!)).toMatchObject({
          type: write.verb === 'create' ? 'ADDED' : 'MODIFIED',
          object: { metadata: { name: write.name, uid: write.uid }, data: { value: write.value } },
        });
      }
    }
    // The other watches received the same events, filtered by their selectors.
    const lines = all.map(lineOf);
    expect(overHttp2.events.map(lineOf)).toEqual(lines);
    expect(everywhere.events.map(lineOf)).toEqual(lines);
    for (const { watch, color } of selections) {
      const expected = projected(start.items, all, (o) => color(o.metadata.labels?.color ?? ''));
      expect(watch.events.map(lineOf)).toEqual(expected);
    }
    expect(one.events.map(lineOf)).toEqual(lines.filter((line) => line.includes(' w0-1 ')));
  });

  it('list an earlier version and its pages with the same bytes as before a kill', async () => {
    for (let i = 0; i < 30; i += 1) {
      await api.call('POST', path, { metadata: { name: `page-${i}` }, data: { v: '1' } });
    }
    const first = await listNow('?limit=7');
    const version = first.metadata.resourceVersion;
    const token = encodeURIComponent(first.metadata.continue!);
    // Writes of every kind must not change the earlier state.
    for (let i = 0; i < 30; i += 3) {
      await api.call('DELETE', `${path}/page-${i}`);
      await api.call('PUT', `${path}/page-${i + 1}`, { metadata: { name: `page-${i + 1}` } });
      await api.call('POST', path, { metadata: { name: `page-${i}-new` } });
    }
    const asked = [
      `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`,
      `${path}?resourceVersion=${version}&resourceVersionMatch=Exact&limit=5`,
      `${path}?resourceVersion=${version}&resourceVersionMatch=Exact&labelSelector=color%3Dred`,
      `${path}?limit=7&continue=${token}`,
      `${path}?continue=${token}`,
    ];
    const before = await Promise.all(asked.map((target) => api.text('GET', target)));
    expect(before.map(({ status }) => status)).toEqual(asked.map(() => 200));
    await killApiServer(cluster, api);
    for (const [i, target] of asked.entries()) {
      expect(await api.text('GET', target)).toEqual(before[i]);
    }
  });

  it('end in time with a bookmark of the delivered version', async () => {
    const { metadata } = await listNow();
    const query = { allowWatchBookmarks: 'true', timeoutSeconds: '3' };
    const watch = new WatchClient(cluster, { path, query }, metadata.resourceVersion);
    // Changes elsewhere advance the bookmark without an event.
    const elsewhere = '/api/v1/namespaces/default/secrets';
    const other = await api.call<WatchedObject>('POST', elsewhere, { metadata: { name: 's' } });
    await eventually('a bookmark', () => watch.bookmarks.length > 0);
    await eventually('the end of the stream and another', () => watch.streamCount > 1);
    const made = await api.call<WatchedObject>('POST', path, { metadata: { name: 'late' } });
    await watch.reaches(made.body.metadata.resourceVersion);
    await watch.stop();
    expect(Number(watch.bookmarks[0])).toBeGreaterThanOrEqual(
      Number(other.body.metadata.resourceVersion),
    );
    expect(watch.events.map(lineOf)).toEqual([`ADDED late ${made.body.metadata.resourceVersion}`]);
    expect(watch.refusals).toEqual([]);
  });

  it('close the streams of stalled readers within bounds, and let them resume', async () => {
    const readerCount = 20;
    const big = 'x'.repeat(256 * 1024);
    const name = 'big';
    const made = await api.call<WatchedObject>('POST', path, { metadata: { name } });
    const from = made.body.metadata.resourceVersion;
    const query = { fieldSelector: `metadata.name=${name}` };
    const readers = await Promise.all(
      Array.from({ length: readerCount }, () => pausedReader(cluster, query, from)),
    );
    const pid = apiServerProcess(cluster);
    const versions: string[] = [];
    let peakBytes = 0;
    const beforeBytes = residentBytes(pid);
    // More than the sockets of both sides and the server's queue hold for one reader.
    for (let i = 0; i < 200; i += 1) {
      const object = { metadata: { name }, data: { [`n${i}`]: big } };
      const answer = await api.call<WatchedObject>('PUT', `${path}/${name}`, object);
      expect(answer.status).toBe(200);
      versions.push(answer.body.metadata.resourceVersion);
      peakBytes = Math.max(peakBytes, residentBytes(pid));
    }
    // The writes alone take up to 300 MiB; queues that held events of their own would be 640 MiB
    // more.
    expect(peakBytes - beforeBytes).toBeLessThan(450 * 1024 * 1024);
    const heard = await Promise.all(readers.map((reader) => reader.rest()));
    for (const events of heard) {
      const seen = events.map((event) => event.object.metadata.resourceVersion);
      expect(seen.length).toBeLessThan(versions.length);
      expect(seen).toEqual(versions.slice(0, seen.length));
    }
    const watch = new WatchClient(cluster, { path, query }, from);
    await watch.reaches(versions.at(-1)!);
    await watch.stop();
    expect(watch.events.map(({ object }) => object.metadata.resourceVersion)).toEqual(versions);
    await api.call('DELETE', `${path}/${name}`);
  });
});

interface PausedReader {
  /** Reads to the end of the connection and returns the complete events. */
  rest(): Promise<Event[]>;
}

/** A watch whose client reads nothing after the head of the response. */
async function pausedReader(
  cluster: Cluster,
  query: Record<string, string>,
  resourceVersion: string,
): Promise<PausedReader> {
  const ca = readFileSync(join(cluster.dataDirectory, 'ca.crt'));
  const { port } = new URL(cluster.url);
  const socket = connect({
    host: '127.0.0.1',
    port: Number(port),
    ca,
    ALPNProtocols: ['http/1.1'],
  });
  const target = `${path}?${new URLSearchParams({ ...query, watch: 'true', resourceVersion })}`;
  const head = [`GET ${target} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${cluster.token}`];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.setEncoding('utf8');
  let heard = await new Promise<string>((done, fail) => {
    socket.once('data', (chunk: string) => {
      socket.pause();
      done(chunk);
    });
    socket.once('error', fail);
  });
  return {
    async rest() {
      socket.on('data', (chunk: string) => {
        heard += chunk;
        // The last chunk shows that the server ended the response, not only the connection.
        if (heard.endsWith('\r\n0\r\n\r\n')) socket.end();
      });
      socket.on('error', () => socket.destroy());
      socket.resume();
      await new Promise((done) => socket.once('close', done));
      const lines = heard.split('\n').filter((line) => line.startsWith('{"type"'));
      return lines.filter((line) => line.trimEnd().endsWith('}}')).map((line) => JSON.parse(line));
    },
  };
}

describe('a version older than the history', () => {
  const cluster = new Cluster({
    dialect: 'orch',
    replicas: 1,
    components: 'apiserver',
    extraArgs: ['--component-arg', 'apiserver=--history-retention=2s'],
  });
  let api: Api;

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
  });

  afterAll(async () => {
    await api?.close();
    await cluster.destroy();
  });

  it('is gone for watches, exact lists and tokens, and stays gone after a kill', async () => {
    for (let i = 0; i < 4; i += 1) await api.call('POST', path, { metadata: { name: `a-${i}` } });
    const first = (await api.call<List>('GET', `${path}?limit=2`)).body;
    const { resourceVersion, continue: token = '' } = first.metadata;
    const live = new WatchClient(cluster, { path }, resourceVersion);
    const written: string[] = [];
    const asked = [
      `${path}?watch=true&timeoutSeconds=1&resourceVersion=${resourceVersion}`,
      `${path}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`,
      `${path}?limit=2&continue=${encodeURIComponent(token)}`,
    ];
    await eventually('the version to be too old', async () => {
      const object = { metadata: { name: 'moving' }, data: { n: String(written.length) } };
      const { body } = written.length
        ? await api.call<WatchedObject>('PUT', `${path}/moving`, object)
        : await api.call<WatchedObject>('POST', path, object);
      written.push(body.metadata.resourceVersion);
      return (await api.text('GET', asked[1]!)).status === 410;
    });
    const expired = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 };
    const expectGone = async () => {
      for (const target of asked) {
        const { status, body } = await api.text('GET', target);
        expect([target, status]).toEqual([target, 410]);
        expect(JSON.parse(body)).toMatchObject(expired);
      }
    };
    await expectGone();
    await killApiServer(cluster, api);
    await expectGone();
    // The error of the expired token includes a token that continues from the latest state.
    const refusal = await api.call<{ metadata: { continue: string } }>('GET', asked[2]!);
    const next = encodeURIComponent(refusal.body.metadata.continue);
    const rest = await api.call<List>('GET', `${path}?continue=${next}`);
    expect(rest.body.items.map(({ metadata }) => metadata.name)).toEqual(['a-2', 'a-3', 'moving']);
    // A watch that kept up has missed nothing.
    await live.reaches(written.at(-1)!);
    await live.stop();
    expect(live.refusals).toEqual([]);
    expect(live.events.map(({ object }) => object.metadata.resourceVersion)).toEqual(written);
  });

  it('ends a watch with 410 in either protocol', async () => {
    for (const http2 of [false, true]) {
      const stream = await openWatch(cluster, { path, http2 }, '1');
      expect(stream.status).toBe(410);
      stream.close();
    }
  });
});

const notRed = (color: string | undefined) => color !== 'red';
const notBlue = (color: string) => color === 'red' || color === 'green';
