/**
 * A cluster of three in everyday operation, as in docs/operations.md: status commands, the loss of
 * a replica, a moved leader, no quorum, an orderly end.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClusterStatus, ReplicaServers, type Server } from './support/replica-servers.js';
import { configMaps, namesAt, SteadyWriter } from './support/steady-writer.js';
import { eventually } from './support/wait.js';

interface Status {
  readonly kind: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly code: number;
}

interface Named {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
}

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly Named[];
}

interface Event {
  readonly type: string;
  readonly object: Named;
}

/** Longest time of a write until the server responds. */
const requestTimeoutMs = 4_000;

describe('a cluster of three', () => {
  let replicas: ReplicaServers;

  beforeAll(async () => {
    replicas = await ReplicaServers.start(3, [
      `--request-timeout=${requestTimeoutMs}ms`,
      '--shutdown-delay-duration=2s',
    ]);
  });

  afterAll(() => replicas?.destroy());

  async function writersAt(servers: readonly Server[], prefix: string): Promise<SteadyWriter[]> {
    const writers = servers.map(
      (server) => new SteadyWriter(replicas, server, `${prefix}-${server.name}`),
    );
    await progress(writers);
    return writers;
  }

  /** Waits until each writer has further acknowledgements. */
  async function progress(writers: readonly SteadyWriter[], count = 20): Promise<void> {
    const goals = writers.map(({ acknowledged }) => acknowledged.length + count);
    await eventually('further writes', () =>
      writers.every(({ acknowledged }, index) => acknowledged.length >= goals[index]!),
    );
  }

  async function stopAndCheck(writers: readonly SteadyWriter[]): Promise<void> {
    await Promise.all(writers.map((writer) => writer.stop()));
    const everyName = writers.flatMap(({ acknowledged }) => acknowledged);
    for (const server of replicas.running()) {
      const there = await namesAt(replicas, server);
      expect(everyName.filter((name) => !there.has(name))).toEqual([]);
    }
  }

  it('is shown by orchctl cluster status, members and check, as tables and as JSON', async () => {
    const table = await replicas.orchctlMust('cluster', 'status');
    expect(table.split('\n')[0]).toMatch(/^NAME +ROLE +HEALTHY +TERM +COMMIT +APPLIED +REVISION/);
    expect(table.match(/ leader +yes /g)).toHaveLength(1);
    expect(table.match(/ follower +yes /g)).toHaveLength(2);

    const json = JSON.parse(await replicas.orchctlMust('cluster', 'status', '-o', 'json'));
    const { clusterId, leader, members } = json as ClusterStatus;
    expect(clusterId).toMatch(/^[0-9a-f]{16}$/);
    expect(members.map(({ name }) => name).sort()).toEqual(['m1', 'm2', 'm3']);
    expect(members.find(({ id }) => id === leader)?.role).toBe('leader');

    const list = await replicas.orchctlMust('cluster', 'members');
    for (const { id } of members) expect(list).toContain(id);
    for (const { peerUrl, url } of replicas.servers) {
      expect(list).toContain(peerUrl);
      expect(list).toContain(url);
    }

    expect(await replicas.orchctlMust('cluster', 'check')).toMatch(/\bconsistent\b/);
    const check = JSON.parse(await replicas.orchctlMust('cluster', 'check', '-o', 'json'));
    expect(check.consistent).toBe(true);
    expect(new Set(check.members.map((member: { hash: string }) => member.hash)).size).toBe(1);
  });

  it('continues a list and a watch at another replica', async () => {
    const [one, two, three] = replicas.servers as [Server, Server, Server];
    const path = configMaps.replace('default', 'kept-in-order');
    await replicas.call(one, 'POST', '/api/v1/namespaces', {
      metadata: { name: 'kept-in-order' },
    });
    const names = Array.from({ length: 9 }, (_, at) => `one-${at}`);
    for (const name of names) {
      const { status } = await replicas.call(two, 'POST', path, { metadata: { name } });
      expect(status).toBe(201);
    }
    const pages: List[] = [];
    for (const server of [one, two, three]) {
      const token = pages.at(-1)?.metadata.continue ?? '';
      const { body } = await replicas.call<List>(
        server,
        'GET',
        `${path}?limit=3&continue=${token}`,
      );
      pages.push(body);
    }
    expect(pages.flatMap(({ items }) => items.map(({ metadata }) => metadata.name))).toEqual(names);
    expect(new Set(pages.map(({ metadata }) => metadata.resourceVersion)).size).toBe(1);

    let seen = pages[0]!.items[0]!.metadata.resourceVersion;
    const events: string[] = [];
    for (const server of [three, one, two]) {
      const query = `watch=1&timeoutSeconds=1&resourceVersion=${seen}`;
      const { body } = await replicas.call<string>(server, 'GET', `${path}?${query}`);
      const [next, after] = body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Event);
      for (const event of [next!, after!])
        events.push(`${event.type} ${event.object.metadata.name}`);
      seen = after!.object.metadata.resourceVersion;
    }
    expect(events).toEqual(names.slice(1, 7).map((name) => `ADDED ${name}`));
  });

  it('serves all writes while a follower is lost, which then catches up', async () => {
    const [victim, other] = (await replicas.followers()) as [Server, Server];
    const writers = await writersAt([await replicas.leader(), other], 'follower-dies');
    await replicas.end(victim, 'SIGKILL');
    await progress(writers);
    const status = await replicas.orchctlMust('cluster', 'status');
    expect(status).toMatch(new RegExp(`^${victim.name} +follower +no .*[a-z]`, 'm'));
    replicas.launch(victim);
    await replicas.ready(victim);
    await stopAndCheck(writers);
    expect(writers.flatMap(({ failures }) => failures)).toEqual([]);
  });

  it('elects another leader when it loses one, without losing an acknowledged write', async () => {
    const victim = await replicas.leader();
    const writers = await writersAt(await replicas.followers(), 'leader-dies');
    const atVictim = await writersAt([victim], 'leader-dies');
    await replicas.end(victim, 'SIGKILL');
    const killedMs = performance.now();
    await progress(writers, 1);
    expect(performance.now() - killedMs).toBeLessThan(10_000);
    await atVictim[0]!.stop();
    expect((await replicas.leader()).name).not.toBe(victim.name);
    replicas.launch(victim);
    await replicas.ready(victim);
    await stopAndCheck([...writers, ...atVictim]);
    // A running server responds to every write, because it proposes again under the new leader.
    expect(writers.flatMap(({ failures }) => failures)).toEqual([]);
  });

  it('moves its leader under load without a failed request', async () => {
    const writers = await writersAt(replicas.servers, 'lead-moves');
    for (const to of (await replicas.followers()).map(({ name }) => name)) {
      expect(await replicas.orchctlMust('cluster', 'move-leader', to)).toBe(`${to} leads\n`);
      expect((await replicas.leader()).name).toBe(to);
      await progress(writers);
    }
    const before = (await replicas.leader()).name;
    expect(await replicas.orchctlMust('cluster', 'move-leader')).toMatch(/^m\d leads\n$/);
    expect((await replicas.leader()).name).not.toBe(before);
    await progress(writers);
    await stopAndCheck(writers);
    expect(writers.flatMap(({ failures }) => failures)).toEqual([]);
  });

  it('stops its leader in order: unready, leader moved, watches ended, exit code 0', async () => {
    const leader = await replicas.leader();
    const writers = await writersAt(await replicas.followers(), 'leader-ends');
    const term = (await replicas.status(leader)).members.find(
      ({ name }) => name === leader.name,
    )?.term;
    const watch = replicas.call(
      leader,
      'GET',
      `${configMaps}?watch=1&resourceVersion=0`,
      undefined,
      60_000,
    );
    await eventually('the watch to be open', async () => {
      const { body } = await replicas.call<string>(leader, 'GET', '/metrics');
      return /^apiserver_registered_watchers\{.*[1-9]\d*$/m.test(body);
    });
    const readiness: number[] = [];
    const ended = replicas.end(leader, 'SIGTERM');
    while (leader.child) {
      const answer = await replicas.call(leader, 'GET', '/readyz').catch(() => undefined);
      if (answer) readiness.push(answer.status);
    }
    expect(await ended).toBe('0');
    // It is unready before it stops responding, and never ready again.
    expect(readiness.at(-1)).toBe(500);
    expect(readiness.indexOf(500)).toBeGreaterThan(readiness.lastIndexOf(200));
    expect((await watch).status).toBe(200);
    await progress(writers);
    const now = (await replicas.status()).members.find(({ role }) => role === 'leader');
    expect(now?.name).not.toBe(leader.name);
    // Transferred in one term, without a contested election.
    expect(now?.term).toBe((term ?? 0) + 1);
    replicas.launch(leader);
    await replicas.ready(leader);
    await stopAndCheck(writers);
    expect(writers.flatMap(({ failures }) => failures)).toEqual([]);
  });

  describe('with two of three stopped', () => {
    let left: Server;
    let gone: Server[];

    beforeAll(async () => {
      left = await replicas.leader();
      gone = await replicas.followers();
      await Promise.all(gone.map((server) => replicas.end(server, 'SIGKILL')));
      await eventually('the remaining server to notice', async () => {
        return (await replicas.call(left, 'GET', '/readyz')).status !== 200;
      });
    });

    it('refuses writes within the request timeout, with a Status', async () => {
      const startMs = performance.now();
      const { status, body, retryAfter } = await replicas.call<Status>(left, 'POST', configMaps, {
        metadata: { name: 'never-stored' },
      });
      expect(performance.now() - startMs).toBeLessThan(requestTimeoutMs + 2_000);
      expect([503, 504]).toContain(status);
      expect(body).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
      expect(['ServiceUnavailable', 'Timeout']).toContain(body.reason);
      expect(body.message).toMatch(/no leader|quorum|not .*known/);
      if (status === 503) expect(retryAfter).toMatch(/^\d+$/);
    });

    it('refuses reads of the latest version, and serves reads at 0', async () => {
      const newest = await replicas.call<Status>(left, 'GET', configMaps);
      expect([503, 504]).toContain(newest.status);
      expect(newest.body.kind).toBe('Status');
      const any = await replicas.call<{ kind: string }>(
        left,
        'GET',
        `${configMaps}?resourceVersion=0`,
      );
      expect([any.status, any.body.kind]).toEqual([200, 'ConfigMapList']);
    });

    it('is alive, not ready, and reports the reason', async () => {
      expect((await replicas.call(left, 'GET', '/livez')).status).toBe(200);
      expect((await replicas.call(left, 'GET', '/readyz')).status).toBe(500);
      const verbose = await replicas.call<string>(left, 'GET', '/readyz?verbose');
      expect(verbose.body).toContain('[-]etcd failed');
      const store = await replicas.call<string>(left, 'GET', '/readyz/store');
      expect([store.status, store.body]).toEqual([
        500,
        expect.stringMatching(/no leader is known for \d+ s/),
      ]);
      for (const { name } of gone) expect(store.body).toContain(name);
      const status = await replicas.orchctlMust('cluster', 'status', '--server', left.url);
      for (const { name } of gone) {
        expect(status).toMatch(new RegExp(`^${name} +\\S+ +no `, 'm'));
      }
      // Without the flag it waits for the time limit of the server, half a minute.
      const check = ['cluster', 'check', '--server', left.url, '--request-timeout', '5s'];
      const { code, stderr } = await replicas.orchctl(...check);
      expect(code).not.toBe(0);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    });

    it('recovers when one more server starts', async () => {
      const [back, later] = gone as [Server, Server];
      replicas.launch(back);
      await replicas.ready(left);
      const { status } = await replicas.call(left, 'POST', configMaps, {
        metadata: { name: 'after-the-outage' },
      });
      expect(status).toBe(201);
      replicas.launch(later);
      await replicas.ready(later);
      expect((await namesAt(replicas, later)).has('after-the-outage')).toBe(true);
    });
  });
});
