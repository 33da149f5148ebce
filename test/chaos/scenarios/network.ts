/**
 * Links between servers that are interrupted in one direction or both, slow, or reset repeatedly.
 */
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';

/** Isolates the leader, waits for another one, and reconnects them. */
async function isolateLeader(run: Run, way: 'both' | 'in' | 'out'): Promise<void> {
  const leader = await run.cluster.leader();
  const since = run.fault(`isolate the leader (${way})`);
  run.isolate(leader, way);
  await run.writesBack(since);
  await run.work(5_000);
  run.healNetwork();
  await run.work(2_000);
}

function isolating(
  number: number,
  name: string,
  way: 'both' | 'in' | 'out',
  shows: string,
): Scenario {
  return {
    number,
    name,
    shows,
    times: 2,
    gate: { acknowledged: 150, faults: 1, failovers: 1 },
    async run(run) {
      await isolateLeader(run, way);
    },
  };
}

export const networkScenarios: readonly Scenario[] = [
  isolating(
    9,
    'isolate-leader',
    'both',
    'the majority elects; the old leader serves nothing stale',
  ),
  isolating(10, 'isolate-leader-in', 'in', 'a leader that receives nothing steps down'),
  isolating(11, 'isolate-leader-out', 'out', 'a leader whose messages are lost is replaced'),
  {
    number: 12,
    name: 'bridge',
    shows: 'two servers connected only through a third one do not depose each other forever',
    gate: { acknowledged: 150, faults: 2, failovers: 0 },
    async run(run) {
      for (let round = 0; round < 2; round += 1) {
        const leader = await run.cluster.leader();
        const [other] = await run.cluster.followers();
        const since = run.fault('disconnect the leader from one follower');
        run.cluster.proxy.partition([[leader.name], [other!.name]]);
        await run.writesBack(since);
        await run.work(5_000);
        run.healNetwork();
        await run.work(1_000);
      }
    },
  },
  {
    number: 13,
    name: 'slow-network',
    shows: 'a delay of 75 to 175 ms in each direction costs time and no leadership for long',
    gate: { acknowledged: 80, faults: 1, failovers: 0 },
    async run(run) {
      run.fault('delay every link');
      const { proxy } = run.cluster;
      const names = run.cluster.current().map(({ name }) => name);
      for (const from of names) {
        for (const to of names) {
          if (from !== to) proxy.between(from, to).set({ delayMs: 75, jitterMs: 100 });
        }
      }
      await run.work(12_000);
    },
  },
  {
    number: 14,
    name: 'lossy-network',
    shows: 'connections are reset at random, half of all attempts refused',
    gate: { acknowledged: 80, faults: 10, failovers: 0 },
    async run(run) {
      const { proxy } = run.cluster;
      const names = run.cluster.current().map(({ name }) => name);
      for (let round = 0; round < 40; round += 1) {
        const from = run.random.pick(names);
        const to = run.random.pick(names.filter((name) => name !== from));
        proxy.between(from, to).set({ isRefusing: run.random.next() < 0.5 });
        if (run.random.next() < 0.5 && proxy.drop(from, to) > 0) run.fault('reset connections');
        await run.work(250);
      }
    },
  },
];
