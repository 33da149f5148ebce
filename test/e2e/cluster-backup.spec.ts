/**
 * Backups, as in docs/operations.md: taken under load, inspected, restored into three new
 * directories, and a cluster of one recovered from one remaining directory.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReplicaServers, type Server } from './support/replica-servers.js';
import { configMaps, namesAt, SteadyWriter } from './support/steady-writer.js';
import { eventually } from './support/wait.js';

describe('backups of a cluster', () => {
  let replicas: ReplicaServers;
  let file: string;
  /** Acknowledged before the backup was requested. */
  let saved: string[];
  let lastRevision: number;

  beforeAll(async () => {
    replicas = await ReplicaServers.start(3);
    file = join(replicas.directory, 'backup');
  });

  afterAll(() => replicas?.destroy());

  it('are taken under load, completely or not at all, and report their content', async () => {
    const writers = replicas.servers.map(
      (server) => new SteadyWriter(replicas, server, `saved-${server.name}`),
    );
    await eventually('writes', () => writers.every(({ acknowledged }) => acknowledged.length > 50));
    saved = writers.flatMap(({ acknowledged }) => acknowledged);
    const said = await replicas.orchctlMust('cluster', 'snapshot', 'save', file);
    expect(said).toMatch(/^saved revision \d+, \d+ keys, to /);
    await Promise.all(writers.map((writer) => writer.stop()));
    expect(writers.flatMap(({ failures }) => failures)).toEqual([]);

    const status = JSON.parse(
      await replicas.orchctlMust('cluster', 'snapshot', 'status', file, '-o', 'json'),
    );
    expect(said).toContain(`revision ${status.revision}, ${status.keyCount} keys`);
    expect(status.keyCount).toBeGreaterThanOrEqual(saved.length);
    expect(await replicas.orchctlMust('cluster', 'snapshot', 'status', file)).toContain('keyCount');

    const again = await replicas.orchctl('cluster', 'snapshot', 'save', file);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/already exists/)]);
  });

  it('are refused when they are damaged', async () => {
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 0xff;
    writeFileSync(`${file}.damaged`, bytes);
    const { code, stderr } = await replicas.orchctl(
      'cluster',
      'snapshot',
      'status',
      `${file}.damaged`,
    );
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('become a new cluster of three, whose clients have to list again', async () => {
    const before = await replicas.call<{ metadata: { resourceVersion: string } }>(
      replicas.servers[0]!,
      'GET',
      configMaps,
    );
    lastRevision = Number(before.body.metadata.resourceVersion);
    await Promise.all(replicas.servers.map((server) => replicas.end(server, 'SIGKILL')));
    const clusterIds = new Set<string>();
    for (const server of replicas.servers) {
      server.dataDirectory = `${server.dataDirectory}-restored`;
      const said = await restore(server);
      clusterIds.add(/new cluster ([0-9a-f]{16})/.exec(said)?.[1] ?? said);
    }
    expect(clusterIds.size).toBe(1);
    await replicas.startAll();
    expect(clusterIds).toContain((await replicas.status()).clusterId);
    for (const server of replicas.servers) {
      const there = await namesAt(replicas, server);
      expect(saved.filter((name) => !there.has(name))).toEqual([]);
    }
    const [server] = replicas.servers as [Server];
    const { body } = await replicas.call<{ metadata: { resourceVersion: string } }>(
      server,
      'GET',
      configMaps,
    );
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThan(lastRevision);
    const watch = await replicas.call<string | { code: number }>(
      server,
      'GET',
      `${configMaps}?watch=1&resourceVersion=${lastRevision}`,
    );
    expect(JSON.stringify(watch.body)).toMatch(/410/);
    const created = await replicas.call(server, 'POST', configMaps, {
      metadata: { name: 'after-the-restore' },
    });
    expect(created.status).toBe(201);
  });

  it('are not restored into an existing directory', async () => {
    const [server] = replicas.servers as [Server];
    await expect(restore(server)).rejects.toThrow(/exists already/);
  });

  it('are not needed: one remaining directory becomes a cluster of one, then of two', async () => {
    const [left, other] = replicas.servers as [Server, Server];
    const inUse = await replicas.orchctl('cluster', 'recover', '--data-dir', left.dataDirectory);
    expect(inUse.code).toBe(1);
    expect(inUse.stderr.trim().split('\n')).toHaveLength(1);
    await Promise.all(replicas.servers.map((server) => replicas.end(server, 'SIGKILL')));
    const said = await replicas.orchctlMust('cluster', 'recover', '--data-dir', left.dataDirectory);
    expect(said).toMatch(/is now the one replica m1 of the new cluster [0-9a-f]{16}/);
    left.initialCluster = `${left.name}=${left.peerUrl}`;
    replicas.launch(left);
    await replicas.ready(left);
    expect((await replicas.status(left)).members.map(({ name }) => name)).toEqual(['m1']);
    const there = await namesAt(replicas, left);
    expect([...saved, 'after-the-restore'].filter((name) => !there.has(name))).toEqual([]);

    other.dataDirectory = `${other.dataDirectory}-again`;
    other.initialState = 'join';
    other.initialCluster = replicas.initialCluster();
    await replicas.orchctlMust('cluster', 'add-member', other.name, '--peer-url', other.peerUrl);
    replicas.launch(other);
    await replicas.ready(other);
    expect(await replicas.orchctlMust('cluster', 'promote', other.name)).toBe('m2 is a voter\n');
    expect(await replicas.orchctlMust('cluster', 'check')).toMatch(/\bconsistent\b/);
  });

  function restore({ name, dataDirectory, initialCluster }: Server): Promise<string> {
    return replicas.orchctlMust(
      ...['cluster', 'snapshot', 'restore', file],
      ...['--data-dir', dataDirectory, '--member-name', name],
      ...['--initial-cluster', initialCluster, '--initial-cluster-token', 'restored'],
    );
  }
});
