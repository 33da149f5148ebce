/**
 * Servers that are suspended without noticing: entirely, in slices, or for lack of processor time.
 */
import type { Scenario } from '../scenario.js';
import { starve } from '../support/starve.js';

export const pauseScenarios: readonly Scenario[] = [
  {
    number: 5,
    name: 'pause-leader',
    shows: 'a leader that resumes after the others elected a new one serves nothing stale',
    times: 3,
    gate: { acknowledged: 200, faults: 1, failovers: 1 },
    async run(run) {
      const leader = await run.cluster.leader();
      const since = run.fault('pause the leader');
      leader.process.signal('SIGSTOP');
      await run.writesBack(since);
      await run.work(run.random.between(1_000, 9_000));
      leader.process.signal('SIGCONT');
      await run.work(2_000);
    },
  },
  {
    number: 6,
    name: 'stutter-leader',
    shows: 'a leader that is suspended repeatedly for 2 s',
    gate: { acknowledged: 150, faults: 4, failovers: 0 },
    async run(run) {
      for (let round = 0; round < 4; round += 1) {
        const leader = await run.cluster.leader();
        run.fault('stop the leader for 2 s');
        leader.process.signal('SIGSTOP');
        await run.work(2_000);
        leader.process.signal('SIGCONT');
        await run.work(1_000);
      }
    },
  },
  {
    number: 7,
    name: 'starve-leader',
    shows: 'a leader with a twentieth of a processor responds late, not wrongly',
    gate: { acknowledged: 100, faults: 1, failovers: 0 },
    async run(run) {
      const leader = await run.cluster.leader();
      run.fault('starve the leader');
      const feed = starve(leader.process.pid);
      try {
        await run.work(12_000);
      } finally {
        feed();
      }
      await run.work(2_000);
    },
  },
];
