/** Situations of operators: certificates that change, a quota that is reached, no quorum. */
import { collectionPath } from '../load/keys.js';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { eventually } from '../support/wait.js';

const configMaps = collectionPath('configmaps');
/** The request timeout of the servers, with a margin for a busy machine. */
const responseTimeoutMs = 12_000;

/** Fills the store up to its quota, deletes objects and waits until it accepts writes again. */
async function fillQuota(run: Run): Promise<void> {
  const { cluster, load } = run;
  const { url } = await cluster.leader();
  const body = (at: number) => ({
    metadata: { name: `ballast-${at}` },
    data: { filler: 'x'.repeat(64 * 1024) },
  });
  run.fault('fill the quota');
  let count = 0;
  await eventually('the quota to be reached', 60_000, async () => {
    const { status } = await cluster.client.send('POST', url + configMaps, { body: body(count) });
    if (status === 201) count += 1;
    return status === 507;
  });
  run.say(`full after ${count} objects`);
  for (let at = 0; at < count; at += 1) {
    const { status } = await cluster.client.send('DELETE', `${url}${configMaps}/ballast-${at}`);
    run.expect(status === 200, 'delete while full', `ballast-${at}: ${status}`);
  }
  // The deleted bytes are history until they are compacted.
  await load.acknowledges(30, 90_000);
}

/** Stops a majority, queries the remaining server and resumes the others. */
async function loseQuorum(run: Run): Promise<void> {
  const { cluster } = run;
  const leader = await cluster.leader();
  const [survivor, other] = await cluster.followers();
  await run.load.pause();
  run.fault('stop a majority');
  leader.process.signal('SIGSTOP');
  other!.process.signal('SIGSTOP');
  const ask = async (what: string, method: 'GET' | 'POST', path: string, wanted: number[]) => {
    const startedMs = performance.now();
    const { status, body, retryAfter } = await cluster.client.send(method, survivor!.url + path, {
      timeoutMs: responseTimeoutMs * 2,
      ...(method === 'POST' && { body: { metadata: { name: 'nobody' } } }),
    });
    const tookMs = performance.now() - startedMs;
    const detail = `${what}: ${status} after ${Math.round(tookMs)} ms, ${JSON.stringify(body).slice(0, 200)}`;
    run.say(detail);
    run.expect(wanted.includes(status), 'response without a quorum', detail);
    run.expect(tookMs < responseTimeoutMs, 'response without a quorum is late', detail);
    if (status >= 500 && path.startsWith('/api')) {
      run.expect(retryAfter !== undefined, 'no Retry-After without a quorum', detail);
    }
  };
  await ask('read at 0', 'GET', `${configMaps}?resourceVersion=0`, [200]);
  await ask('quorum read', 'GET', configMaps, [503, 504]);
  await ask('write', 'POST', configMaps, [503, 504]);
  await ask('liveness', 'GET', '/livez', [200]);
  await ask('readiness', 'GET', '/readyz?verbose', [500, 503]);
  const { text } = await cluster.operator.health(survivor!.url, '/readyz/store');
  run.say(`/readyz/store: ${text}`);
  leader.process.signal('SIGCONT');
  other!.process.signal('SIGCONT');
  const since = run.load.notes.now();
  run.load.resume();
  await run.writesBack(since);
}

export const operationScenarios: readonly Scenario[] = [
  {
    number: 26,
    name: 'quota',
    shows:
      'with the quota reached writes are refused and deletes pass; with free space writes resume',
    cluster: { flags: ['--quota-backend-bytes=2Mi', '--history-retention=2s'] },
    load: { isHistoryShort: true },
    gate: { acknowledged: 150, faults: 1, failovers: 0 },
    run: fillQuota,
  },
  {
    number: 28,
    name: 'certificates',
    shows: 'replaced peer certificates are reloaded; a server with an expired one is refused',
    gate: { acknowledged: 150, faults: 3, failovers: 0 },
    async run(run) {
      const { certificates } = run.cluster;
      for (const { name } of run.cluster.current()) await certificates.issue(`${name}-peer`);
      run.fault('replace the peer certificates');
      await run.work(3_000);
      run.cluster.proxy.drop();
      const since = run.fault('reset all peer connections');
      await run.writesBack(since);
      const [follower] = await run.cluster.followers();
      await certificates.issue(`${follower!.name}-peer`, {
        validMs: 3_600_000,
        shiftMs: -7_200_000,
      });
      run.fault('expire the certificate of a follower');
      await run.kill(follower!);
      run.cluster.launch(follower!);
      follower!.process.expectEnd();
      await run.work(6_000);
      const { status, text } = await run.cluster.operator.health(follower!.url, '/readyz');
      run.expect(status !== 200, 'ready with an expired certificate', text);
      await run.kill(follower!);
      await certificates.issue(`${follower!.name}-peer`);
      await run.restart(follower!);
    },
  },
  {
    number: 29,
    name: 'quorum-lost',
    shows: 'reads at 0 continue, other requests are refused in time with a reason, and all recover',
    gate: { acknowledged: 120, faults: 1, failovers: 0 },
    run: loseQuorum,
  },
];
