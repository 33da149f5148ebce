import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  commit,
  exact,
  objectAt,
  put,
  QUORUM,
  read,
  showList,
  until,
  WAIT_MS,
  WatchRecorder,
} from '../testing/harness.js';
import type { Revision, StoreError } from '../versioned-store.js';
import type { EtcdCluster } from './etcd-cluster.js';
import type { EtcdStore } from './etcd-store.js';
import { COMPACTION_KEY } from './key-layout.js';
import { compact, range, txn } from './messages.js';
import { EtcdServers } from './testing/etcd-server.js';
import { type OpenedStore, openStore, rawCluster } from './testing/open.js';
import { TcpProxy } from './testing/tcp-proxy.js';

const A = 'core/pods/ns/a';
const B = 'core/pods/ns/b';

describe('EtcdStore', () => {
  let servers: EtcdServers;
  let opened: OpenedStore[];
  let raw: EtcdCluster;
  let proxies: TcpProxy[];

  beforeEach(async () => {
    servers = await EtcdServers.start(1, false);
    opened = [];
    proxies = [];
    raw = rawCluster(servers);
  });

  afterEach(async () => {
    for (const { store } of opened) await store.stop();
    raw.close();
    for (const proxy of proxies) await proxy.close();
    await servers.destroy();
  });

  async function open(options: Parameters<typeof openStore>[1] = {}): Promise<EtcdStore> {
    const one = await openStore(servers, options);
    opened.push(one);
    return one.store;
  }

  async function putRaw(key: string, value: string | Buffer): Promise<void> {
    const requestPut = { key: Buffer.from(key), value: Buffer.from(value) };
    await raw.write(txn, { compare: [], success: [{ requestPut }], failure: [] }, WAIT_MS);
  }

  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'succeeded',
      (error: StoreError) => error.code,
    );

  it('shares an etcd with others, whose changes only count in the revision', async () => {
    const [mine, other] = [await open(), await open({ prefix: '/other' })];
    const recorder = new WatchRecorder(mine, '', 0);
    await commit(mine, put(A, 'mine'));
    await commit(other, put(A, 'other'));
    await putRaw('/registryx', 'neighbour');
    await commit(mine, put(B, 'mine'));
    expect(showList(await mine.list('', QUORUM))).toEqual([
      `${A}@1/1 ${objectAt('mine', 1)}`,
      `${B}@4/4 ${objectAt('mine', 4)}`,
    ]);
    expect(recorder.events.map(({ key, revision }) => `${key}@${revision}`)).toEqual([
      `${A}@1`,
      `${B}@4`,
    ]);
    await putRaw('/elsewhere', 'x');
    await mine.get(A, QUORUM);
    expect(mine.revision()).toBe(5);
    expect(recorder.handle.revision).toBe(5);
  });

  it('shows the commits of other API servers, to watches as well', async () => {
    const [first, second] = [await open(), await open()];
    const recorder = new WatchRecorder(second, '', 0);
    const { revision } = await commit(first, put(A, 'one'));
    const found = await second.get(A, read({ kind: 'notOlderThan', revision }));
    expect(found.entry?.bytes.toString()).toBe(objectAt('one', 1));
    await commit(first, { kind: 'delete', key: A, lastBytes: Buffer.from('gone') });
    await recorder.reached(2);
    expect(recorder.events.at(-1)?.entry.bytes.toString()).toBe('gone');
  });

  it('reads from a quorum what any API server has acknowledged', async () => {
    const [first, second] = [await open(), await open()];
    for (let at = 0; at < 150; at += 1) {
      const { revision } = await commit(first, put(A, `${at}`));
      expect((await second.get(A, QUORUM)).entry?.revision).toBe(revision);
    }
  });

  it('orders keys alike in memory and in etcd', async () => {
    const store = await open();
    const keys = ['core/pods/ns/\u{1f600}', 'core/pods/ns/\uffee', 'core/pods/ns/é', A];
    for (const key of keys) await commit(store, put(key, 'x'));
    const present = (await store.list('core/', QUORUM)).entries.map(({ key }) => key);
    expect(present).toEqual([...keys].sort());
    await commit(store, put(B, 'x'));
    const past = await store.list('core/', { ...exact(4), limit: 3 });
    expect(past.entries.map(({ key }) => key)).toEqual(present.slice(0, 3));
    expect(past.remainingCount).toBe(1);
  });

  it('reads more than one answer may hold', async () => {
    const store = await open();
    const bytes = Buffer.alloc(1.5 * 1024 * 1024, 'x');
    for (let at = 0; at < 24; at += 1) {
      await commit(store, { kind: 'put', key: `core/pods/ns/${at}`, bytes });
    }
    const again = await open({ recentEventsMax: 4 });
    expect(again.status()).toMatchObject({ keyCount: 24, valueBytes: 24 * bytes.length });
    await commit(again, put(A, 'a'));
    expect((await again.list('core/', exact(24))).entries).toHaveLength(24);
  });

  it('ends keys of one time to live together, and none of them early', async () => {
    const store = await open();
    const recorder = new WatchRecorder(store, '', 0);
    const startedMs = performance.now();
    for (const key of [A, B]) {
      await commit(store, { kind: 'put', key, bytes: Buffer.from('x'), timeToLiveMs: 1_000 });
    }
    await until(() => recorder.events.length === 4, 'both keys have ended');
    expect(performance.now() - startedMs).toBeGreaterThan(1_000);
    expect(recorder.events.slice(2).map(({ kind, revision }) => `${kind} ${revision}`)).toEqual([
      'delete 3',
      'delete 3',
    ]);
  });

  it('passes over servers that are down or of another cluster', async () => {
    const stranger = await EtcdServers.start(1, false);
    try {
      const [own = ''] = servers.endpoints;
      const [other = ''] = stranger.endpoints;
      const store = await open({ endpoints: ['http://127.0.0.1:1', own, other] });
      await commit(store, put(A, 'one'));
      await servers.members[0]?.kill();
      await until(() => !store.status().ready, 'the store is not ready');
      expect(await codeOf(store.commit([put(A, 'two')], 1_500))).not.toBe('succeeded');
      servers.members[0]?.start();
      await until(() => store.status().ready, 'the store is ready again');
      expect((await commit(store, put(A, 'three'))).revision).toBe(2);
      expect(opened[0]?.fatal).toEqual([]);
    } finally {
      await stranger.destroy();
    }
  });

  it('says what etcd finds too large, and changes nothing', async () => {
    const store = await open();
    const bytes = Buffer.alloc(1.5 * 1024 * 1024);
    for (const count of [3, 4, 6]) {
      const puts = Array.from({ length: count }, (_, at) => ({
        kind: 'put' as const,
        key: `core/pods/ns/${at}`,
        bytes,
      }));
      expect(await codeOf(store.commit(puts, WAIT_MS))).toBe('TooLarge');
    }
    expect(store.revision()).toBe(0);
    await commit(store, put(A, 'small'));
  });

  it('refuses a prefix that holds what it did not write', async () => {
    await putRaw('/registry/core/pods/ns/a', '{"kind":"Pod"}');
    await expect(open()).rejects.toMatchObject({ code: 'Corrupt' });
    const other = await openStore(servers, { prefix: '/clean' });
    opened.push(other);
    await putRaw('/clean/core/pods/ns/a', 'text');
    await until(() => other.fatal.length === 1, 'the store has given up');
    expect(other.store.status()).toMatchObject({ ready: false });
  });

  it('compacts in one API server an interval, and all know of it', async () => {
    const intervalMs = 500;
    const quick = { historyRetentionMs: 1, compactionIntervalMs: intervalMs };
    const stores = [await open(quick), await open(quick), await open(quick), await open(quick)];
    const [first] = stores as [EtcdStore];
    const claims = async () =>
      (await raw.read(range, { key: COMPACTION_KEY }, WAIT_MS)).kvs[0]?.version ?? 0;
    while ((await claims()) === 0) await commit(first, put(A, 'before'));
    const startedMs = performance.now();
    while ((await claims()) < 4) await commit(first, put(A, 'after'));
    expect(performance.now() - startedMs).toBeGreaterThan(2.5 * intervalMs);
    await until(
      () => stores.every((store) => store.status().compactedRevision > 2),
      'every store knows of the compaction',
    );
    expect(await codeOf(first.list('', exact(2)))).toBe('Compacted');
  });

  it('notices what others have compacted', async () => {
    const store = await open({ recentEventsMax: 1 });
    for (let at = 0; at < 6; at += 1) await commit(store, put(A, `${at}`));
    await raw.read(compact, { revision: 5 }, WAIT_MS);
    const late = new WatchRecorder(store, '', 1);
    await until(() => late.ended !== undefined, 'the watch has ended');
    expect(late.ended).toMatchObject({ code: 'Compacted', revision: 4 });
    expect(store.status().compactedRevision).toBe(4);
    const again = await open();
    expect(again.status().compactedRevision).toBe(4);
    expect(() => new WatchRecorder(again, '', 3)).toThrowError(
      expect.objectContaining({ code: 'Compacted', revision: 4 }),
    );
    const kept = await new WatchRecorder(again, '', 4).reached(6);
    expect(kept.events.map(({ revision }) => revision)).toEqual([5, 6]);
  });

  it('begins anew when it was away for longer than history is kept', async () => {
    const proxy = await TcpProxy.to(servers.endpoints[0] ?? '');
    proxies.push(proxy);
    const [store, writer] = [await open({ endpoints: [proxy.url] }), await open()];
    await commit(store, put(A, 'one'));
    const recorder = new WatchRecorder(store, '', 0);
    await recorder.reached(1);
    proxy.cut();
    for (let at = 0; at < 4; at += 1) await commit(writer, put(B, `${at}`));
    await raw.read(compact, { revision: 6 }, WAIT_MS);
    proxy.mend();
    await until(() => recorder.ended !== undefined, 'the watch has ended');
    expect(recorder.ended).toMatchObject({ code: 'Compacted' });
    expect(showList(await store.list('', QUORUM))).toEqual([
      `${A}@1/1 ${objectAt('one', 1)}`,
      `${B}@2/5 ${objectAt('3', 5)}`,
    ]);
    await commit(store, put(A, 'two'));
  });

  it('says that an outcome is unknown, and never commits twice', async () => {
    const store = await open();
    const [server] = servers.members;
    await commit(store, put(A, 'one'));
    server?.signal('SIGSTOP');
    const lost = await codeOf(store.commit([put(A, 'two')], 300));
    server?.signal('SIGCONT');
    expect(lost).toBe('OutcomeUnknown');
    const { entry } = await store.get(A, QUORUM);
    expect([1, 2]).toContain(entry?.revision);
    const next = await commit(store, put(A, 'three'));
    expect(next.revision).toBe((entry?.revision ?? 0) + 1);
  });

  it('gives up when etcd goes back in time', async () => {
    const store = await open();
    for (let at = 0; at < 3; at += 1) await commit(store, put(A, `${at}`));
    await servers.replaceByEmpty();
    await until(() => opened[0]?.fatal.length === 1, 'the store has given up');
    expect(opened[0]?.fatal[0]).toMatchObject({ code: 'Corrupt' });
    expect(store.revision()).toBe(3 as Revision);
  });
});

describe('EtcdStore on an etcd without room', () => {
  let servers: EtcdServers;

  beforeEach(async () => {
    servers = await EtcdServers.start(1, false, ['--quota-backend-bytes=4194304']);
  });

  afterEach(async () => {
    await servers.destroy();
  });

  it('says so, and goes on with reads and deletions', async () => {
    const { store } = await openStore(servers);
    const bytes = Buffer.alloc(1024 * 1024);
    let code = '';
    for (let at = 0; code === '' && at < 20; at += 1) {
      const result = store.commit([{ kind: 'put', key: `core/pods/ns/${at}`, bytes }], WAIT_MS);
      code = await result.then(
        () => '',
        (error: StoreError) => error.code,
      );
    }
    expect(code).toBe('NoSpace');
    expect(store.status()).toMatchObject({
      ready: true,
      reason: expect.stringContaining('--quota-backend-bytes'),
    });
    const [first] = (await store.list('core/', QUORUM)).entries;
    await commit(store, { kind: 'delete', key: first?.key ?? '' });
    expect((await store.get(first?.key ?? '', QUORUM)).entry).toBeUndefined();
    await store.stop();
  });
});
