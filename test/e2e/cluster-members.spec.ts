/**
 * Changes of members, as in docs/operations.md: one added and promoted, the leader removed, one
 * replaced after the loss of its directory, certificates rotated; and refusals, with cause and
 * remedy.
 */

import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PeerCertificates } from './support/peer-certificates.js';
import type { Outcome } from './support/process.js';
import { ReplicaServers, type Server } from './support/replica-servers.js';
import { configMaps, namesAt, SteadyWriter } from './support/steady-writer.js';
import { eventually } from './support/wait.js';

/** More than the entries that the log retains, so that it is compacted. */
const writeCount = 10_500;
const writersAtOnce = 64;
/** Longest time of these writes on a busy machine. */
const writeTimeoutMs = 400_000;

/** Expects a refusal in one line that has the reason. */
function expectRefusal({ code, stdout, stderr }: Outcome, why: RegExp): void {
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  expect(stderr).toMatch(why);
}

interface Refused {
  readonly message: string;
}

describe('members of a cluster', () => {
  let replicas: ReplicaServers;
  /** Removed and added again, under another id than before. */
  let readded: Server;

  beforeAll(async () => {
    replicas = await ReplicaServers.start(3, ['--history-retention=2s']);
    const server = await replicas.leader();
    const write = async (name: string) => {
      const url = `${configMaps}/${name}`;
      const object = { metadata: { name } };
      expect((await replicas.call(server, 'POST', configMaps, object)).status).toBe(201);
      for (let round = 1; round * writersAtOnce < writeCount; round += 1) {
        const changed = { ...object, data: { round: String(round) } };
        expect((await replicas.call(server, 'PUT', url, changed)).status).toBe(200);
      }
    };
    await Promise.all(Array.from({ length: writersAtOnce }, (_, at) => write(`churn-${at}`)));
  }, writeTimeoutMs);

  afterAll(() => replicas?.destroy());

  const memberOf = async (name: string) =>
    (await replicas.status(replicas.running().find((server) => server.name !== name))).members.find(
      (member) => member.name === name,
    );

  /** Joins as documented: add as a learner, start with an empty directory. */
  async function join(server: Server): Promise<void> {
    const { name, peerUrl } = server;
    server.initialState = 'join';
    server.initialCluster = replicas.initialCluster();
    const added = await replicas.orchctlMust('cluster', 'add-member', name, '--peer-url', peerUrl);
    expect(added).toMatch(new RegExp(`^added ${name} as learner [0-9a-f]{16}; start it with`));
    replicas.launch(server);
    await replicas.ready(server);
  }

  it('join as learners, receive a snapshot, and are promoted once they follow', async () => {
    const leader = await replicas.leader();
    await eventually('the log to be compacted', async () => {
      return ((await memberOf(leader.name))?.firstIndex ?? 0) > 1;
    });
    const writer = new SteadyWriter(replicas, leader, 'joined');
    const m4 = await replicas.define('m4');
    m4.initialState = 'join';
    m4.initialCluster = replicas.initialCluster();
    await replicas.orchctlMust('cluster', 'add-member', 'm4', '--peer-url', m4.peerUrl);
    expectRefusal(
      await replicas.orchctl('cluster', 'promote', 'm4'),
      /does not follow the log yet/,
    );
    replicas.launch(m4);
    await replicas.ready(m4);
    await eventually('the snapshot to be counted', async () => {
      const { body } = await replicas.call<string>(leader, 'GET', '/metrics');
      return /^raft_snapshots_total\{.*outcome="done".*\} [1-9]/m.test(body);
    });
    expect((await memberOf('m4'))?.role).toBe('learner');
    expect(await replicas.orchctlMust('cluster', 'promote', 'm4')).toBe('m4 is a voter\n');
    await writer.stop();
    expect(writer.failures).toEqual([]);
    const there = await namesAt(replicas, m4);
    expect(writer.acknowledged.filter((name) => !there.has(name))).toEqual([]);
    expect(await replicas.orchctlMust('cluster', 'check')).toMatch(/\bconsistent\b/);
  });

  it('are known at every replica as soon as they are added', async () => {
    const leader = await replicas.leader();
    // From the second round on, the name was that of a removed member with another id.
    const name = 'brief';
    const added = { name, peerUrl: 'https://127.0.0.1:1' };
    for (let round = 0; round < 5; round += 1) {
      expect((await replicas.call(leader, 'POST', '/cluster/members', added)).status).toBe(200);
      const path = `/cluster/members/${name}`;
      const promoted = await Promise.all(
        replicas
          .running()
          .map((server) => replicas.call<Refused>(server, 'POST', `${path}/promote`)),
      );
      for (const { status, body } of promoted) {
        expect([status, body.message]).toEqual([422, expect.stringMatching(/does not follow/)]);
      }
      expect((await replicas.call(leader, 'DELETE', path)).status).toBe(200);
    }
  });

  it('can be removed even as leader, end, and do not start again', async () => {
    const leader = await replicas.leader();
    readded = leader;
    const [other] = await replicas.followers();
    const writer = new SteadyWriter(replicas, other!, 'leader-removed');
    expect(await replicas.orchctlMust('cluster', 'remove-member', leader.name)).toBe(
      `removed ${leader.name}\n`,
    );
    expect(await replicas.untilEnded(leader)).toBe('7');
    expect(replicas.logOf(leader)).toMatch(/was removed from (the )?cluster/);
    expect((await replicas.leader()).name).not.toBe(leader.name);
    await eventually('further writes', () => writer.acknowledged.length > 20);
    await writer.stop();
    expect(writer.failures).toEqual([]);
    replicas.launch(leader);
    expect(await replicas.untilEnded(leader)).toBe('7');
    expect(replicas.logOf(leader)).toMatch(/empty its data directory and add it again/);
    rmSync(leader.dataDirectory, { recursive: true });
    await join(leader);
    await replicas.orchctlMust('cluster', 'promote', leader.name);
    await replicas.orchctlMust('cluster', 'remove-member', 'm4');
    await replicas.untilEnded(replicas.servers.find(({ name }) => name === 'm4')!);
  });

  it('are refused with a name or peer URL in use, or if they are missing', async () => {
    const [taken] = replicas.servers as [Server];
    const add = (name: string, url: string) =>
      replicas.orchctl('cluster', 'add-member', name, '--peer-url', url);
    expectRefusal(await add(taken.name, 'https://127.0.0.1:1'), /name m1 is taken/);
    expectRefusal(await add('other', taken.peerUrl), /peer URL .* is taken/);
    expectRefusal(await add('other', 'http://127.0.0.1:1'), /must be https:\/\/host:port/);
    expectRefusal(
      await replicas.orchctl('cluster', 'remove-member', 'nobody'),
      /no member "nobody"/,
    );
    expectRefusal(await replicas.orchctl('cluster', 'promote', taken.name), /is a voter already/);
  });

  it('do not start with an emptied directory, and are replaced', async () => {
    // A member whose id is still the one of its name and URL.
    const wiped = (await replicas.followers()).find((server) => server !== readded)!;
    await replicas.end(wiped, 'SIGKILL');
    rmSync(wiped.dataDirectory, { recursive: true });
    wiped.initialState = 'new';
    wiped.initialCluster = replicas.servers
      .filter(({ name }) => name !== 'm4')
      .map(({ name, peerUrl }) => `${name}=${peerUrl}`)
      .join(',');
    replicas.launch(wiped);
    expect(await replicas.untilEnded(wiped)).toBe('7');
    expect(replicas.logOf(wiped)).toMatch(
      /remove the member, then add it again with an empty directory/,
    );
    rmSync(wiped.dataDirectory, { recursive: true });
    await replicas.orchctlMust('cluster', 'remove-member', wiped.name);
    await join(wiped);
    await replicas.orchctlMust('cluster', 'promote', wiped.name);
    expect((await memberOf(wiped.name))?.role).toBe('follower');
  });

  it('of another cluster are refused, and report the reason', async () => {
    const stranger = await replicas.define('stranger');
    stranger.flags = ['--initial-cluster-token=another'];
    stranger.initialCluster = `stranger=${stranger.peerUrl},${replicas.initialCluster()}`;
    replicas.launch(stranger);
    await eventually('it to report the refusal', async () => {
      const { body } = await replicas.call<string>(stranger, 'GET', '/readyz/store');
      return /belongs to another cluster/.test(body);
    });
    expect((await replicas.call(stranger, 'GET', '/readyz')).status).toBe(500);
    await replicas.end(stranger, 'SIGKILL');
    expect((await replicas.status()).members.map(({ name }) => name).sort()).toEqual([
      'm1',
      'm2',
      'm3',
    ]);
  });

  it('reload certificates without a restart, and are refused with those of another authority', async () => {
    const [follower] = (await replicas.followers()) as [Server];
    const files = replicas.certificates.files(follower.name);
    await replicas.certificates.issue(follower.name);
    const wanted = new X509Certificate(readFileSync(files.certificateFile)).fingerprint256;
    await eventually('the new certificate to be shown to peers and to clients', async () => {
      const shown = [await shownBy(follower.peerUrl), await shownBy(follower.url)];
      return shown.every((fingerprint) => fingerprint === wanted);
    });

    const foreign = await PeerCertificates.create();
    await foreign.issue('m');
    await replicas.end(follower, 'SIGKILL');
    const { certificateFile, keyFile } = foreign.files('m');
    follower.flags = [`--peer-cert-file=${certificateFile}`, `--peer-key-file=${keyFile}`];
    replicas.launch(follower);
    await eventually('it to report the refusal', async () => {
      const { body } = await replicas.call<string>(follower, 'GET', '/readyz/store');
      return /rejects this certificate/.test(body);
    });
    await eventually('the others to report it', async () => {
      const { reason = '' } = (await memberOf(follower.name)) ?? {};
      return /unable to verify|certificate/.test(reason);
    });
    await replicas.end(follower, 'SIGKILL');
    follower.flags = [];
    replicas.launch(follower);
    await replicas.ready(follower);
    foreign.remove();
  });

  function shownBy(url: string): Promise<string> {
    const { hostname, port } = new URL(url);
    const { certificateFile, keyFile } = replicas.certificates.files('m1');
    return new Promise((done, fail) => {
      const socket = connect(
        {
          host: hostname,
          port: Number(port),
          ca: replicas.certificates.authorityPem,
          cert: readFileSync(certificateFile),
          key: readFileSync(keyFile),
          ALPNProtocols: ['h2'],
        },
        () => {
          done(socket.getPeerCertificate().fingerprint256);
          socket.destroy();
        },
      );
      socket.on('error', fail);
    });
  }
});

describe('a cluster of one', () => {
  let replicas: ReplicaServers;

  beforeAll(async () => {
    replicas = await ReplicaServers.start(1);
  });

  afterAll(() => replicas?.destroy());

  it('refuses to remove its last voter', async () => {
    expectRefusal(await replicas.orchctl('cluster', 'remove-member', 'm1'), /is the only voter/);
    expect((await replicas.status()).members).toHaveLength(1);
  });

  it('refuses to move its leader', async () => {
    const { code, stderr } = await replicas.orchctl('cluster', 'move-leader');
    expect(code).toBe(1);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
