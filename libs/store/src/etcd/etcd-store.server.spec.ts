import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  commit,
  exact,
  objectAt,
  put,
  quorumRead,
  read,
  showList,
  until,
  WatchRecorder,
  waitMs,
} from '../testing/harness.js';
import type { Revision, StoreError } from '../versioned-store.js';
import type { EtcdCluster } from './client/etcd-cluster.js';
import { compact, range, txn } from './client/messages.js';
import type { EtcdStore } from './etcd-store.js';
import { compactionKey } from './layout/key-layout.js';
import { EtcdServers } from './testing/etcd-server.js';
import { type OpenedStore, openStore, rawCluster } from './testing/open.js';
import { TcpProxy } from './testing/tcp-proxy.js';

const keyA = 'core/pods/ns/a';
const keyB = 'core/pods/ns/b';

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
    await raw.write(txn, { compare: [], success: [{ requestPut }], failure: [] }, waitMs);
  }

  const codeOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'succeeded',
      (error: StoreError) => error.code,
    );

  it('ignores changes of other programs except in the revision', async () => {
    const [mine, other] = [await open(), await open({ prefix: '/other' })];
    const recorder = new WatchRecorder(mine, '', 0);
    await commit(mine, put(keyA, 'mine'));
    await commit(other, put(keyA, 'other'));
    await putRaw('/registryx', 'neighbour');
    await commit(mine, put(keyB, 'mine'));
    expect(showList(await mine.list('', quorumRead))).toEqual([
      `${keyA}@1/1 ${objectAt('mine', 1)}`,
      `${keyB}@4/4 ${objectAt('mine', 4)}`,
    ]);
    expect(recorder.events.map(({ key, revision }) => `${key}@${revision}`)).toEqual([
      `${keyA}@1`,
      `${keyB}@4`,
    ]);
    await putRaw('/elsewhere', 'x');
    await mine.get(keyA, quorumRead);
    expect(mine.revision()).toBe(5);
    expect(recorder.handle.revision).toBe(5);
  });

  it('shows the commits of other API servers, to watches as well', async () => {
    const [first, second] = [await open(), await open()];
    const recorder = new WatchRecorder(second, '', 0);
    const { revision } = await commit(first, put(keyA, 'one'));
    const found = await second.get(keyA, read({ kind: 'notOlderThan', revision }));
    expect(found.entry?.bytes.toString()).toBe(objectAt('one', 1));
    await commit(first, { kind: 'delete', key: keyA, lastBytes: Buffer.from('gone') });
    await recorder.reached(2);
    expect(recorder.events.at(-1)?.entry.bytes.toString()).toBe('gone');
  });

  it('reads from a quorum what any API server has acknowledged', async () => {
    const [first, second] = [await open(), await open()];
    for (let at = 0; at < 150; at += 1) {
      const { revision } = await commit(first, put(keyA, `${at}`));
      expect((await second.get(keyA, quorumRead)).entry?.revision).toBe(revision);
    }
  });

  it('orders keys alike in memory and in etcd', async () => {
    const store = await open();
    const keys = ['core/pods/ns/\u{1f600}', 'core/pods/ns/\uffee', 'core/pods/ns/é', keyA];
    for (const key of keys) await commit(store, put(key, 'x'));
    const present = (await store.list('core/', quorumRead)).entries.map(({ key }) => key);
    expect(present).toEqual([...keys].sort());
    await commit(store, put(keyB, 'x'));
    const past = await store.list('core/', { ...exact(4), limit: 3 });
    expect(past.entries.map(({ key }) => key)).toEqual(present.slice(0, 3));
    expect(past.remainingCount).toBe(1);
  });

  it('lists more than one response may contain', async () => {
    const store = await open();
    const bytes = Buffer.alloc(1.5 * 1024 * 1024, 'x');
    for (let at = 0; at < 24; at += 1) {
      await commit(store, { kind: 'put', key: `core/pods/ns/${at}`, bytes });
    }
    const again = await open({ recentEventsMax: 4 });
    expect(again.status()).toMatchObject({ keyCount: 24, valueBytes: 24 * bytes.length });
    await commit(again, put(keyA, 'a'));
    expect((await again.list('core/', exact(24))).entries).toHaveLength(24);
  });

  it('expires keys with one time to live together and none early', async () => {
    const store = await open();
    const recorder = new WatchRecorder(store, '', 0);
    const startedMs = performance.now();
    // Concurrent, so that a slow commit does not end the time in which a lease is shared.
    const bytes = Buffer.from('x');
    await Promise.all(
      [keyA, keyB].map((key) => commit(store, { kind: 'put', key, bytes, timeToLiveMs: 1_000 })),
    );
    await until(() => recorder.events.length === 4, 'both keys have ended');
    expect(performance.now() - startedMs).toBeGreaterThan(1_000);
    expect(recorder.events.slice(2).map(({ kind, revision }) => `${kind} ${revision}`)).toEqual([
      'delete 3',
      'delete 3',
    ]);
  });

  it('skips servers that are down or of another cluster', async () => {
    const stranger = await EtcdServers.start(1, false);
    try {
      const [own = ''] = servers.endpoints;
      const [other = ''] = stranger.endpoints;
      const store = await open({ endpoints: ['http://127.0.0.1:1', own, other] });
      await commit(store, put(keyA, 'one'));
      await servers.members[0]?.kill();
      await until(() => !store.status().ready, 'the store is not ready');
      expect(await codeOf(store.commit([put(keyA, 'two')], 1_500))).not.toBe('succeeded');
      servers.members[0]?.start();
      await until(() => store.status().ready, 'the store is ready again');
      expect((await commit(store, put(keyA, 'three'))).revision).toBe(2);
      expect(opened[0]?.fatal).toEqual([]);
    } finally {
      await stranger.destroy();
    }
  });

  it('reports a commit that etcd finds too large and changes nothing', async () => {
    const store = await open();
    const bytes = Buffer.alloc(1.5 * 1024 * 1024);
    for (const count of [3, 4, 6]) {
      const puts = Array.from({ length: count }, (_, at) => ({
        kind: 'put' as const,
        key: `core/pods/ns/${at}`,
        bytes,
      }));
      expect(await codeOf(store.commit(puts, waitMs))).toBe('TooLarge');
    }
    expect(store.revision()).toBe(0);
    await commit(store, put(keyA, 'small'));
  });

  it('rejects a prefix with values that it did not write', async () => {
    await putRaw('/registry/core/pods/ns/a', '{"kind":"Pod"}');
    await expect(open()).rejects.toMatchObject({ code: 'Corrupt' });
    const other = await openStore(servers, { prefix: '/clean' });
    opened.push(other);
    await putRaw('/clean/core/pods/ns/a', 'text');
    await until(() => other.fatal.length === 1, 'the store has given up');
    expect(other.store.status()).toMatchObject({ ready: false });
  });

  it('compacts once per interval for all API servers', async () => {
    const intervalMs = 500;
    const quick = { historyRetentionMs: 1, compactionIntervalMs: intervalMs };
    const stores = [await open(quick), await open(quick), await open(quick), await open(quick)];
    const [first] = stores as [EtcdStore];
    const claims = async () =>
      (await raw.read(range, { key: compactionKey }, waitMs)).kvs[0]?.version ?? 0;
    while ((await claims()) === 0) await commit(first, put(keyA, 'before'));
    const startedMs = performance.now();
    while ((await claims()) < 4) await commit(first, put(keyA, 'after'));
    expect(performance.now() - startedMs).toBeGreaterThan(2.5 * intervalMs);
    await until(
      () => stores.every((store) => store.compactedRevision() > 2),
      'every store knows of the compaction',
    );
    expect(await codeOf(first.list('', exact(2)))).toBe('Compacted');
  });

  it('detects compactions of others', async () => {
    const store = await open({ recentEventsMax: 1 });
    for (let at = 0; at < 6; at += 1) await commit(store, put(keyA, `${at}`));
    await raw.read(compact, { revision: 5 }, waitMs);
    const late = new WatchRecorder(store, '', 1);
    await until(() => late.ended !== undefined, 'the watch has ended');
    expect(late.ended).toMatchObject({ code: 'Compacted', revision: 4 });
    expect(store.compactedRevision()).toBe(4);
    const again = await open();
    expect(again.status().compactedRevision).toBe(4);
    expect(() => new WatchRecorder(again, '', 3)).toThrowError(
      expect.objectContaining({ code: 'Compacted', revision: 4 }),
    );
    const kept = await new WatchRecorder(again, '', 4).reached(6);
    expect(kept.events.map(({ revision }) => revision)).toEqual([5, 6]);
  });

  it('loads the state again when it was disconnected longer than history is retained', async () => {
    const proxy = await TcpProxy.to(servers.endpoints[0] ?? '');
    proxies.push(proxy);
    const [store, writer] = [await open({ endpoints: [proxy.url] }), await open()];
    await commit(store, put(keyA, 'one'));
    const recorder = new WatchRecorder(store, '', 0);
    await recorder.reached(1);
    proxy.disconnect();
    for (let at = 0; at < 4; at += 1) await commit(writer, put(keyB, `${at}`));
    await raw.read(compact, { revision: 6 }, waitMs);
    proxy.reconnect();
    await until(() => recorder.ended !== undefined, 'the watch has ended');
    expect(recorder.ended).toMatchObject({ code: 'Compacted' });
    expect(showList(await store.list('', quorumRead))).toEqual([
      `${keyA}@1/1 ${objectAt('one', 1)}`,
      `${keyB}@2/5 ${objectAt('3', 5)}`,
    ]);
    await commit(store, put(keyA, 'two'));
  });

  it('reports an unknown outcome and never commits twice', async () => {
    const store = await open();
    const [server] = servers.members;
    await commit(store, put(keyA, 'one'));
    server?.signal('SIGSTOP');
    const lost = await codeOf(store.commit([put(keyA, 'two')], 300));
    server?.signal('SIGCONT');
    expect(lost).toBe('OutcomeUnknown');
    const { entry } = await store.get(keyA, quorumRead);
    expect([1, 2]).toContain(entry?.revision);
    const next = await commit(store, put(keyA, 'three'));
    expect(next.revision).toBe((entry?.revision ?? 0) + 1);
  });

  it('fails when etcd loses revisions', async () => {
    const store = await open();
    for (let at = 0; at < 3; at += 1) await commit(store, put(keyA, `${at}`));
    await servers.replaceByEmpty();
    await until(() => opened[0]?.fatal.length === 1, 'the store has given up');
    expect(opened[0]?.fatal[0]).toMatchObject({ code: 'Corrupt' });
    expect(store.revision()).toBe(3 as Revision);
  });
});

describe('EtcdStore on an etcd without space', () => {
  let servers: EtcdServers;

  beforeEach(async () => {
    servers = await EtcdServers.start(1, false, ['--quota-backend-bytes=4194304']);
  });

  afterEach(async () => {
    await servers.destroy();
  });

  it('reports it and continues with reads and deletions', async () => {
    const { store } = await openStore(servers);
    const bytes = Buffer.alloc(1024 * 1024);
    let code = '';
    for (let at = 0; code === '' && at < 20; at += 1) {
      const result = store.commit([{ kind: 'put', key: `core/pods/ns/${at}`, bytes }], waitMs);
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
    const [first] = (await store.list('core/', quorumRead)).entries;
    await commit(store, { kind: 'delete', key: first?.key ?? '' });
    expect((await store.get(first?.key ?? '', quorumRead)).entry).toBeUndefined();
    await store.stop();
  });
});
