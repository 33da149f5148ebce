/**
 * The meaning of an acknowledgement: many clients write the same few objects while the API server
 * is killed repeatedly. The history of a watch must explain every response to every client.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './support/api.js';
import { Cluster } from './support/cluster.js';
import { killApiServer } from './support/kill.js';
import { type Call, RegisterClient } from './support/register-client.js';
import { eventually } from './support/wait.js';
import { type Event, WatchClient, type WatchedObject } from './support/watch-client.js';

const path = '/api/v1/namespaces/default/configmaps';
const killCount = 4;
const clientCount = 8;
const callsPerKill = 400;

/** One version of one object, and the one before it. */
interface Version {
  readonly name: string;
  readonly revision: number;
  /** Undefined if the object does not exist. */
  readonly object: WatchedObject | undefined;
  readonly before: Version | undefined;
  next: Version | undefined;
}

interface History {
  readonly byRevision: ReadonlyMap<number, Version>;
  /** The first version of each name, at which the object does not exist. */
  readonly first: ReadonlyMap<string, Version>;
  readonly last: ReadonlyMap<string, Version>;
}

function historyOf(events: readonly Event[], names: readonly string[]): History {
  const byRevision = new Map<number, Version>();
  const absent = (name: string): [string, Version] => [
    name,
    { name, revision: 0, object: undefined, before: undefined, next: undefined },
  ];
  const first = new Map(names.map(absent));
  const last = new Map(first);
  for (const { type, object } of events) {
    const { name, resourceVersion } = object.metadata;
    const before = last.get(name);
    const revision = Number(resourceVersion);
    const shown = type === 'DELETED' ? undefined : object;
    const version: Version = { name, revision, object: shown, before, next: undefined };
    if (before) before.next = version;
    last.set(name, version);
    byRevision.set(revision, version);
  }
  return { byRevision, first, last };
}

describe('writes over kills of the API server', () => {
  const cluster = new Cluster({ dialect: 'orch', replicas: 1, components: 'apiserver' });
  const names = Array.from({ length: 6 }, (_, i) => `register-${i}`);
  let api: Api;
  let history: History;
  let calls: Call[];
  let listed: WatchedObject[];
  let regressions: number[];

  beforeAll(async () => {
    await cluster.up();
    api = new Api(cluster);
    const start = await api.call<{ metadata: { resourceVersion: string } }>('GET', path);
    const watch = new WatchClient(cluster, { path }, start.body.metadata.resourceVersion);
    const apis = Array.from({ length: clientCount }, () => new Api(cluster));
    const clients = apis.map((own, i) => new RegisterClient(own, `c${i}`, names));
    const answered = () => clients.reduce((sum, client) => sum + client.answeredCount, 0);
    for (let kill = 0; kill < killCount; kill += 1) {
      // At a random moment under load.
      const goal = answered() + callsPerKill + Math.floor(Math.random() * 100);
      await eventually('responses', () => answered() >= goal);
      await killApiServer(cluster, api);
    }
    const goal = answered() + callsPerKill;
    await eventually('responses after the last kill', () => answered() >= goal);
    await Promise.all(clients.map((client) => client.stop()));
    const end = await api.call<{ metadata: { resourceVersion: string }; items: WatchedObject[] }>(
      'GET',
      path,
    );
    listed = end.body.items.filter(({ metadata }) => metadata.name.startsWith('register-'));
    const marker = await api.call<WatchedObject>('POST', path, { metadata: { name: 'end' } });
    await watch.reaches(marker.body.metadata.resourceVersion);
    await watch.stop();
    await Promise.all(apis.map((own) => own.close()));
    history = historyOf(watch.events, names);
    calls = clients.flatMap((client) => client.calls);
    regressions = clients.flatMap((client) => client.regressions);
  });

  afterAll(async () => {
    await api?.close();
    await cluster.destroy();
  });

  const done = () => calls.filter(({ outcome }) => outcome === 'done');

  it('were many, of every kind, contended and interrupted', () => {
    const count = (test: (call: Call) => boolean) => calls.filter(test).length;
    for (const verb of ['create', 'update', 'delete', 'get'] as const) {
      expect(count((call) => call.verb === verb && call.outcome === 'done')).toBeGreaterThan(30);
    }
    expect(count(({ outcome }) => outcome === 'refused')).toBeGreaterThan(30);
    expect(count(({ outcome }) => outcome === 'unknown')).toBeGreaterThan(0);
    expect(calls.filter(({ outcome }) => outcome === 'odd')).toEqual([]);
  });

  it('are all stored once acknowledged, exactly as in the response', () => {
    for (const call of done()) {
      if (call.verb === 'create' || call.verb === 'update') {
        const version = history.byRevision.get(call.revision!);
        expect(version?.object).toMatchObject({
          metadata: { name: call.name, uid: call.uid },
          data: { tag: call.tag },
        });
      }
      if (call.verb === 'delete') expect(deletionOf(call)).toBeDefined();
    }
  });

  it('take effect at most once, and not at all when refused', () => {
    const tags = [...history.byRevision.values()].flatMap(({ object }) => object?.data?.tag ?? []);
    expect(new Set(tags).size).toBe(tags.length);
    const known = new Map(calls.map((call) => [call.tag, call]));
    for (const tag of tags) expect(['done', 'unknown']).toContain(known.get(tag)?.outcome);
  });

  it('change only the version that they name', () => {
    const bases = new Set<string>();
    for (const call of done()) {
      if (call.verb !== 'update') continue;
      const version = history.byRevision.get(call.revision!);
      expect(call.revision!).toBeGreaterThan(call.base!);
      expect(version?.before?.revision).toBe(call.base);
      // No two acknowledged changes of one version.
      const base = `${call.name} ${call.base}`;
      expect(bases.has(base)).toBe(false);
      bases.add(base);
    }
  });

  it('are ordered as their callers saw them', () => {
    const writes = done().filter(({ revision, verb }) => verb !== 'get' && revision !== undefined);
    const byEnd = [...writes].sort((a, b) => a.endMs - b.endMs);
    const byStart = [...writes].sort((a, b) => a.startMs - b.startMs);
    let highest = 0;
    let at = 0;
    for (const write of byStart) {
      for (; at < byEnd.length && byEnd[at]!.endMs < write.startMs; at += 1) {
        highest = Math.max(highest, byEnd[at]!.revision!);
      }
      expect(write.revision!).toBeGreaterThan(highest);
    }
    // The version of the cluster never decreases for a client, over all restarts.
    expect(regressions).toEqual([]);
  });

  it('are read as registers: nothing older than an earlier acknowledged version', () => {
    const ended = new Map(
      done()
        .filter(({ verb }) => verb !== 'get')
        .map((call) => [call.verb === 'delete' ? deletionOf(call) : call.revision, call.endMs]),
    );
    const begun = new Map(calls.map((call) => [call.tag, call.startMs]));
    for (const read of done().filter(({ verb }) => verb === 'get')) {
      const possible = versionsOf(read.name).filter(({ revision, object, next }) => {
        const isShown = read.revision === undefined ? !object : revision === read.revision;
        // Another version was acknowledged before the read began.
        const wasOver = next !== undefined && (ended.get(next.revision) ?? Infinity) < read.startMs;
        // Its write began after the read had ended.
        const tag = object?.data?.tag;
        const isEarly = tag !== undefined && (begun.get(tag) ?? 0) > read.endMs;
        return isShown && !wasOver && !isEarly;
      });
      expect([read, possible.length > 0]).toEqual([read, true]);
    }
  });

  it('lead to the final list', () => {
    const left = names.flatMap((name) => history.last.get(name)?.object ?? []);
    expect(listed.map(({ metadata }) => [metadata.name, metadata.resourceVersion])).toEqual(
      left.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
    );
  });

  function versionsOf(name: string): Version[] {
    const versions: Version[] = [];
    for (let at = history.first.get(name); at; at = at.next) versions.push(at);
    return versions;
  }

  /** The revision at which the call deleted its object. */
  function deletionOf({ name, uid }: Call): number | undefined {
    return versionsOf(name).find(
      ({ object, before }) => !object && before?.object?.metadata.uid === uid,
    )?.revision;
  }
});
