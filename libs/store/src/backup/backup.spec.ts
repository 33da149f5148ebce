import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReplicatedStore } from '../replicated-store.js';
import { commit, exact, put, quorumRead, showList, WatchRecorder } from '../testing/harness.js';
import { openSole } from '../testing/sole-store.js';
import { recoverDataDirectory } from './recover.js';
import { restoreDataDirectory } from './restore.js';
import { inspectSnapshot, saveSnapshot } from './snapshot-file.js';

const keyA = 'core/pods/ns/a';
const revisionBump = 1_000_000_000;
const soleMember = [{ name: 'default', peerUrl: 'https://127.0.0.1:6480' }];
const threeMembers = ['a', 'b', 'c'].map((name, at) => ({
  name,
  peerUrl: `https://10.0.0.${at}:6480`,
}));

describe('backups', () => {
  let parent: string;
  let original: string;
  let file: string;
  let before: string[];
  let keyCount: number;
  let target: string;

  beforeAll(async () => {
    parent = await mkdtemp(join(tmpdir(), 'store-backup-'));
    original = join(parent, 'original');
    file = join(parent, 'backup');
    const store = await openSole(original);
    for (let at = 0; at < 60; at += 1) {
      const key = `core/pods/ns/p${at % 9}`;
      await commit(store, at % 10 === 9 ? { kind: 'delete', key } : put(key, `${at}`));
    }
    const chunks: Buffer[] = [];
    for await (const chunk of saveSnapshot(store)) chunks.push(chunk);
    await writeFile(file, Buffer.concat(chunks));
    before = showList(await store.list('', quorumRead));
    ({ keyCount } = store.status());
    await commit(store, put(keyA, 'after the backup'));
    await store.stop();
  });

  afterAll(async () => {
    await rm(parent, { recursive: true, force: true });
  });

  beforeEach(async () => {
    target = await mkdtemp(join(parent, 'target-'));
  });

  const restore = (initialCluster = soleMember, memberName = 'default', dataDirectory = target) =>
    restoreDataDirectory({ file, dataDirectory, memberName, initialCluster, token: 'cluster' });

  async function within<Result>(
    directory: string,
    use: (store: ReplicatedStore) => Promise<Result>,
  ): Promise<Result> {
    const store = await openSole(directory);
    try {
      return await use(store);
    } finally {
      await store.stop();
    }
  }

  it('report their content when inspected', async () => {
    expect(await inspectSnapshot(file)).toMatchObject({
      revision: 60,
      compactedRevision: 0,
      keyCount,
    });
  });

  it('are rejected when a bit is flipped anywhere or the end is missing', async () => {
    const bytes = await readFile(file);
    const bad = join(target, 'bad');
    const step = Math.floor(bytes.length / 40);
    for (let at = 3; at < bytes.length; at += step) {
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 1 << (at % 8);
      await writeFile(bad, flipped);
      await expect(inspectSnapshot(bad)).rejects.toThrow();
    }
    await writeFile(bad, bytes.subarray(0, -1));
    await expect(inspectSnapshot(bad)).rejects.toMatchObject({ code: 'Corrupt' });
    await expect(
      restoreDataDirectory({
        file: bad,
        dataDirectory: target,
        memberName: 'default',
        initialCluster: soleMember,
        token: 'cluster',
      }),
    ).rejects.toMatchObject({ code: 'Corrupt' });
    await restore();
  });

  it('become a new cluster with the same content, far ahead, without history', async () => {
    const { clusterId, revision, keyCount: restored } = await restore();
    expect({ revision, restored }).toEqual({ revision: 60 + revisionBump, restored: keyCount });
    expect(clusterId).toMatch(/^[0-9a-f]{16}$/);
    const check = (next: number) =>
      within(target, async (store) => {
        expect(showList(await store.list('core/pods/ns/p', quorumRead))).toEqual(before);
        expect(showList(await store.list('core/pods/ns/p', exact(60 + revisionBump)))).toEqual(
          before,
        );
        await expect(store.list('', exact(60))).rejects.toMatchObject({ code: 'Compacted' });
        expect(() => new WatchRecorder(store, '', 60)).toThrowError(
          expect.objectContaining({ code: 'Compacted' }),
        );
        const watch = new WatchRecorder(store, '', 60 + revisionBump);
        expect((await commit(store, put(keyA, 'new'))).revision).toBe(next);
        await watch.reached(next);
        expect(watch.events.at(-1)?.revision).toBe(next);
      });
    await check(61 + revisionBump);
    await check(62 + revisionBump);
  });

  it('agree on the cluster when every member is restored from the same file', async () => {
    const ids = new Set<string>();
    const members = new Set<string>();
    for (const { name } of threeMembers) {
      const { clusterId, memberId } = await restore(threeMembers, name, join(target, name));
      ids.add(clusterId);
      members.add(memberId);
    }
    expect([ids.size, members.size]).toEqual([1, 3]);
    expect((await restore()).clusterId).not.toBe([...ids][0]);
  });

  it('are not restored over a replica or for a member that is not listed', async () => {
    await restore();
    await expect(restore()).rejects.toMatchObject({ code: 'BadDirectory' });
    const elsewhere = join(target, 'elsewhere');
    await expect(restore(threeMembers, 'stranger', elsewhere)).rejects.toMatchObject({
      code: 'BadConfiguration',
    });
    await restore(threeMembers, 'a', elsewhere);
  });

  it('are not needed when one directory survives: it becomes a cluster of one', async () => {
    await cp(original, target, { recursive: true });
    const recovered = await recoverDataDirectory(target);
    expect(recovered).toMatchObject({ memberName: 'default', formerVoters: [], term: 1 });
    expect(recovered.lastIndex).toBeGreaterThanOrEqual(recovered.commitIndex);
    expect(recovered.lastIndex).toBeGreaterThan(60);
    await within(target, async (store) => {
      expect((await store.get(keyA, quorumRead)).entry?.bytes.toString()).toContain(
        'after the backup',
      );
      expect((await commit(store, put(keyA, 'and on'))).revision).toBe(62);
    });
    await expect(recoverDataDirectory(join(target, 'nothing'))).rejects.toMatchObject({
      code: 'BadDirectory',
    });
  });

  it('recover the one member of three that is left', async () => {
    await restore(threeMembers, 'b');
    const { formerVoters, memberName } = await recoverDataDirectory(target);
    expect(memberName).toBe('b');
    expect(formerVoters.map(({ name }) => name)).toEqual(['a', 'c']);
    const identity = {
      memberName: 'b',
      peerUrl: threeMembers[1]!.peerUrl,
      clientUrl: '',
      initialMembers: threeMembers,
      initialState: 'new',
      clusterToken: 'cluster',
    } as const;
    const store = await openSole(target, { identity });
    expect(showList(await store.list('', quorumRead))).toEqual(before);
    expect((await commit(store, put(keyA, 'new'))).revision).toBe(61 + revisionBump);
    await store.stop();
  });
});
