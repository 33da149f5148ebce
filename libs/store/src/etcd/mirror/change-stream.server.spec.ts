import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitMs } from '../../testing/harness.js';
import type { Revision } from '../../versioned-store.js';
import type { EtcdCluster } from '../client/etcd-cluster.js';
import { compact, txn } from '../client/messages.js';
import { encodeValue } from '../layout/etcd-entry.js';
import { KeyLayout } from '../layout/key-layout.js';
import { EtcdServers } from '../testing/etcd-server.js';
import { rawCluster } from '../testing/open.js';
import { ChangeStream, hasOrderedProgress, type StreamStep } from './change-stream.js';

const layout = new KeyLayout('/registry');

describe('ChangeStream', () => {
  let servers: EtcdServers;
  let cluster: EtcdCluster;

  beforeAll(async () => {
    servers = await EtcdServers.start(1, false);
    cluster = rawCluster(servers);
  });

  afterAll(async () => {
    cluster.close();
    await servers.destroy();
  });

  async function put(key: Buffer): Promise<number> {
    const value = encodeValue({ payload: Buffer.from('x'), revisionOffset: 0 });
    const request = { compare: [], success: [{ requestPut: { key, value } }], failure: [] };
    return (await cluster.write(txn, request, waitMs)).header.revision - 1;
  }

  /** A stream as from a server of that version. */
  async function open(version: string, afterRevision: number): Promise<ChangeStream> {
    const member = await cluster.member(waitMs);
    member.version = version;
    return new ChangeStream(member, {
      layout,
      afterRevision: afterRevision as Revision,
      withPrevious: true,
    });
  }

  async function next(steps: AsyncIterator<StreamStep>) {
    const step: StreamStep = (await steps.next()).value;
    const keys = step.commits.flatMap(({ changes }) => changes.map(({ key }) => key));
    return { revision: step.revision, keys };
  }

  it('confirms completeness by progress requests when the server orders them', async () => {
    const before = await put(layout.entryKey('core/pods/a'));
    const stream = await open('3.5.13', before);
    const steps = stream[Symbol.asyncIterator]();
    await put(Buffer.from('/elsewhere'));
    const own = await put(layout.entryKey('core/pods/b'));
    expect(await next(steps)).toEqual({ revision: own, keys: ['core/pods/b'] });
    const foreign = await put(Buffer.from('/elsewhere'));
    stream.requestProgress();
    expect(await next(steps)).toEqual({ revision: foreign, keys: [] });
    stream.close();
    await expect(steps.next()).rejects.toMatchObject({ name: 'EtcdError' });
  });

  it('reads every revision when the server does not order progress', async () => {
    const before = await put(layout.entryKey('core/pods/a'));
    const stream = await open('3.4.30', before);
    const steps = stream[Symbol.asyncIterator]();
    const foreign = await put(Buffer.from('/elsewhere'));
    expect(await next(steps)).toEqual({ revision: foreign, keys: [] });
    const own = await put(layout.entryKey('core/pods/b'));
    expect(await next(steps)).toEqual({ revision: own, keys: ['core/pods/b'] });
    stream.close();
  });

  it('throws Compacted when its start revision is compacted', async () => {
    const newest = await put(layout.entryKey('core/pods/a'));
    await cluster.read(compact, { revision: newest + 1 }, waitMs);
    for (const version of ['3.4.30', '3.5.13']) {
      const steps = (await open(version, newest - 2))[Symbol.asyncIterator]();
      await expect(steps.next()).rejects.toMatchObject({ code: 'Compacted', revision: newest });
    }
  });

  it('knows the versions that order progress', () => {
    const ordered = ['3.4.31', '3.4.40', '3.5.13', '3.5.21', '3.6.0', '3.6.0-rc.1', '4.0.0'];
    const unordered = ['3.3.27', '3.4.23', '3.4.30', '3.5.0', '3.5.12', ''];
    expect(ordered.filter((version) => !hasOrderedProgress(version))).toEqual([]);
    expect(unordered.filter(hasOrderedProgress)).toEqual([]);
  });
});
