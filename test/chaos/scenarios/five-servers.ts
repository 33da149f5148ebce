/** Five servers: two may die at the same time, besides a learner, or be isolated together. */
import type { Run } from '../run.js';
import type { Scenario } from '../scenario.js';
import type { Member } from '../support/chaos-cluster.js';
import { addLearner } from './membership.js';

/** The leader and a follower. */
async function twoOf(run: Run): Promise<[Member, Member]> {
  const leader = await run.cluster.leader();
  const voters = (await run.cluster.followers()).filter(
    ({ initialState }) => initialState === 'new',
  );
  return [leader, run.random.pick(voters)];
}

/** Kills two voters: the other three continue, and a learner follows them. */
async function killTwo(run: Run): Promise<void> {
  await addLearner(run, 'l1');
  for (let round = 0; round < 2; round += 1) {
    const victims = await twoOf(run);
    const since = run.fault(`kill ${victims.map(({ name }) => name).join(' and ')} together`);
    await Promise.all(victims.map((victim) => run.kill(victim)));
    await run.writesBack(since);
    await run.work(3_000);
    await Promise.all(victims.map((victim) => run.restart(victim)));
  }
}

/** Isolates the leader together with a follower that still acknowledges its entries. */
async function isolateTwo(run: Run): Promise<void> {
  const victims = await twoOf(run);
  const names = victims.map(({ name }) => name);
  const others = run.cluster.current().filter((member) => !victims.includes(member));
  const since = run.fault(`isolate ${names.join(' and ')} together`);
  run.cluster.proxy.partition([names, others.map(({ name }) => name)]);
  await run.writesBack(since);
  await run.work(5_000);
  run.healNetwork();
  await run.work(2_000);
}

export const fiveServerScenarios: readonly Scenario[] = [
  {
    number: 101,
    name: 'kill-two-of-five',
    shows:
      'five servers and a learner: the leader and another die together, twice, and three continue',
    cluster: { size: 5 },
    gate: { acknowledged: 150, faults: 3, failovers: 2 },
    run: killTwo,
  },
  {
    number: 109,
    name: 'isolate-two-of-five',
    shows: 'a leader isolated with one follower of four acknowledges and serves nothing',
    cluster: { size: 5 },
    times: 2,
    gate: { acknowledged: 150, faults: 1, failovers: 1 },
    run: isolateTwo,
  },
];
