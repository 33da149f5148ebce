/**
 * Directories that are damaged or of another version, as in docs/operations.md: a state is repaired
 * automatically, a log is refused with cause and remedy; and a quota that is exceeded and met
 * again.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReplicaServers, type Server } from './support/replica-servers.js';
import { configMaps, namesAt, SteadyWriter } from './support/steady-writer.js';
import { eventually } from './support/wait.js';

/** Inverts bytes throughout the matching files of a database, so that some live records are hit. */
function damage(directory: string, files = /\.(log|ldb)$/): void {
  for (const name of readdirSync(directory).filter((each) => files.test(each))) {
    const file = join(directory, name);
    const bytes = readFileSync(file);
    const step = Math.max(1, bytes.length >> 4);
    for (let at = bytes.length >> 1; at < bytes.length; at += step) bytes[at]! ^= 0xff;
    writeFileSync(file, bytes);
  }
}

describe('directories of a cluster', () => {
  let replicas: ReplicaServers;
  let names: string[];
  let victim: Server;

  beforeAll(async () => {
    replicas = await ReplicaServers.start(3);
    const writer = new SteadyWriter(replicas, replicas.servers[0]!, 'kept', 2_000);
    await eventually('writes', () => writer.acknowledged.length > 200);
    await writer.stop();
    names = writer.acknowledged;
    [victim] = (await replicas.followers()) as [Server];
  });

  afterAll(() => replicas?.destroy());

  it.each([
    ['records, from the log', /\.(log|ldb)$/, /the log replays them/],
    ['the database as a whole, from the leader', /^MANIFEST/, /snapshot/],
  ])('are repaired automatically when the state is damaged: %s', async (_what, files, said) => {
    expect(await replicas.end(victim, 'SIGTERM')).toBe('0');
    const loggedBytes = readFileSync(victim.logFile).length;
    damage(join(victim.dataDirectory, 'state/leveldb'), files);
    replicas.launch(victim);
    await replicas.ready(victim);
    expect(readFileSync(victim.logFile).subarray(loggedBytes).toString()).toMatch(said);
    const there = await namesAt(replicas, victim);
    expect(names.filter((name) => !there.has(name))).toEqual([]);
    expect(await replicas.orchctlMust('cluster', 'check')).toMatch(/\bconsistent\b/);
  });

  it('are refused with cause and remedy when the log is damaged, and replaced', async () => {
    await replicas.end(victim, 'SIGTERM');
    damage(join(victim.dataDirectory, 'log/leveldb'));
    replicas.launch(victim);
    expect(await replicas.untilEnded(victim)).toBe('7');
    expect(replicas.logOf(victim)).toMatch(/remove this member|remove the member/i);

    await replicas.orchctlMust('cluster', 'remove-member', victim.name);
    rmSync(victim.dataDirectory, { recursive: true });
    victim.initialState = 'join';
    victim.initialCluster = replicas.initialCluster();
    await replicas.orchctlMust('cluster', 'add-member', victim.name, '--peer-url', victim.peerUrl);
    replicas.launch(victim);
    await replicas.ready(victim);
    await replicas.orchctlMust('cluster', 'promote', victim.name);
    expect(await replicas.orchctlMust('cluster', 'check')).toMatch(/\bconsistent\b/);
  });

  it('of a newer format are refused and not changed', async () => {
    await replicas.end(victim, 'SIGTERM');
    const file = join(victim.dataDirectory, 'log/format.json');
    const own = readFileSync(file, 'utf8');
    const newer = own.replace(/("(?:format|version)[A-Za-z]*":\s*)\d+/, '$199');
    expect(newer).not.toBe(own);
    writeFileSync(file, newer);
    replicas.launch(victim);
    expect(await replicas.untilEnded(victim)).toBe('7');
    expect(replicas.logOf(victim)).toMatch(/format.*99/);
    writeFileSync(file, own);
    replicas.launch(victim);
    await replicas.ready(victim);
  });
});

describe('a quota', () => {
  let replicas: ReplicaServers;

  beforeAll(async () => {
    replicas = await ReplicaServers.start(3, [
      '--quota-backend-bytes=3Mi',
      '--history-retention=2s',
    ]);
  });

  afterAll(() => replicas?.destroy());

  it('refuses writes with a Status when exceeded, admits deletions, and admits writes again', async () => {
    const [server] = replicas.servers as [Server];
    const create = (name: string) =>
      replicas.call<{ kind: string; reason: string; message: string }>(server, 'POST', configMaps, {
        metadata: { name },
        data: { value: 'v'.repeat(100_000) },
      });
    const created: string[] = [];
    const refusal = await eventually('a refusal', async () => {
      const name = `fill-${created.length}`;
      const answer = await create(name);
      if (answer.status !== 201) return answer;
      created.push(name);
      return undefined;
    });
    expect(created.length).toBeGreaterThan(10);
    expect([refusal.status, refusal.body.kind]).toEqual([507, 'Status']);
    expect(refusal.body.message).toMatch(/quota/);
    expect((await replicas.call(server, 'GET', '/readyz')).status).toBe(200);
    for (const name of created) {
      expect((await replicas.call(server, 'DELETE', `${configMaps}/${name}`)).status).toBe(200);
    }
    await eventually('writes to be admitted again', async () => {
      return (await create('after')).status === 201;
    });
  });
});
