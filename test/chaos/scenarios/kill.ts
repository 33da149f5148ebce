/** Servers that die: SIGKILL of the leader, of a follower, of all, and repeatedly. */
import type { Scenario } from '../scenario.js';

export const killScenarios: readonly Scenario[] = [
  {
    number: 1,
    name: 'kill-leader',
    shows: 'an election restores writes, no acknowledged write is lost',
    times: 3,
    gate: { acknowledged: 200, faults: 1, failovers: 1 },
    async run(run) {
      const leader = await run.cluster.leader();
      const since = run.fault('kill the leader');
      await run.kill(leader);
      await run.writesBack(since);
      await run.work(1_500);
      await run.restart(leader);
    },
  },
  {
    number: 2,
    name: 'kill-follower',
    shows: 'writes continue, the follower restarts and catches up',
    times: 2,
    gate: { acknowledged: 200, faults: 1, failovers: 0 },
    async run(run) {
      const follower = run.random.pick(await run.cluster.followers());
      const since = run.fault('kill a follower');
      await run.kill(follower);
      await run.writesBack(since);
      await run.work(3_000);
      await run.restart(follower);
    },
  },
  {
    number: 3,
    name: 'kill-all',
    shows: 'acknowledged writes are on the disks of a majority',
    times: 2,
    gate: { acknowledged: 150, faults: 1, failovers: 1 },
    async run(run) {
      run.fault('kill all');
      const members = run.cluster.current();
      await Promise.all(members.map((member) => run.kill(member)));
      await run.work(300);
      const since = run.load.notes.now();
      for (const member of members) run.cluster.launch(member);
      await run.writesBack(since);
      await run.work(2_000);
    },
  },
  {
    number: 4,
    name: 'kill-loop',
    shows: 'a leader or follower is killed every 1 to 5 s',
    gate: { acknowledged: 300, faults: 6, failovers: 2 },
    async run(run) {
      for (let round = 0; round < 6; round += 1) {
        const leader = await run.cluster.leader();
        const victim = round % 2 === 0 ? leader : run.random.pick(run.cluster.current());
        const since = run.fault(victim === leader ? 'kill the leader' : 'kill a server');
        await run.kill(victim);
        await run.writesBack(since);
        await run.work(run.random.between(1_000, 5_000));
        await run.restart(victim);
      }
    },
  },
];
