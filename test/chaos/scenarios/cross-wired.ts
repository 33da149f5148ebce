/** Addresses of a wrong server: one of another cluster with trusted certificates. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import { ChaosCluster } from '../support/chaos-cluster.js';
import { eventually } from '../support/wait.js';

const noticeTimeoutMs = 30_000;

async function crossWire(run: Run): Promise<void> {
  const { cluster } = run;
  const foreign = await ChaosCluster.create(
    join(cluster.directory, 'foreign'),
    { size: 3, token: 'foreign', certificates: cluster.certificates },
    () => run.random.next(),
  );
  try {
    await foreign.startAll();
    const [victim] = await cluster.followers();
    const [stranger] = foreign.members;
    const since = run.fault(`redirect ${victim!.name} to a server of another cluster`);
    victim!.peerTarget.port = stranger!.listenPeerPort;
    cluster.proxy.drop();
    await run.writesBack(since);
    const logs = [...cluster.members, ...foreign.members].map(({ process }) => process.logFile);
    await eventually('the stranger to be refused by its cluster', noticeTimeoutMs, () =>
      logs.some((file) => existsSync(file) && /another cluster/.test(readFileSync(file, 'utf8'))),
    );
    await run.work(3_000);
    const check = await foreign.operator.check();
    run.expect(check.consistent, 'the other cluster was changed', JSON.stringify(check));
    victim!.peerTarget.port = victim!.listenPeerPort;
    cluster.proxy.drop();
  } finally {
    await foreign.destroy();
  }
}

export const crossWiredScenarios: readonly Scenario[] = [
  {
    number: 15,
    name: 'cross-wired',
    shows: 'a server of another cluster at a peer address is refused, and neither cluster changes',
    gate: { acknowledged: 150, faults: 1, failovers: 0 },
    run: crossWire,
  },
];
