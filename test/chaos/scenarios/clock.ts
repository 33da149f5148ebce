/**
 * Wall clocks that jump: expiry and retention depend on the leader's proposals, not on the wall
 * clock.
 */
import type { Scenario } from '../scenario.js';
import { fakeClockUnavailable, WallClock } from '../support/wall-clock.js';

const hourSeconds = 3_600;
/** Interval of compactions; exact lists stay within the retained history. */
const compactionMs = 30_000;

export const clockScenarios: readonly Scenario[] = [
  {
    number: 8,
    name: 'clock-jumps',
    shows:
      'the wall clock of the leader jumps an hour ahead and back: writes continue, no history is lost',
    gate: { acknowledged: 150, faults: 3, failovers: 0 },
    unavailable: fakeClockUnavailable,
    async run(run) {
      const clocks = new Map<string, WallClock>();
      for (const member of run.cluster.current()) {
        clocks.set(member.name, WallClock.install(run.cluster, member));
        await member.process.stop();
        await run.restart(member);
      }
      for (const seconds of [hourSeconds, -hourSeconds, 0]) {
        const leader = await run.cluster.leader();
        const clock = clocks.get(leader.name)!;
        const since = run.fault(`shift the leader's clock by ${seconds} s`);
        clock.shift(seconds);
        await run.writesBack(since);
        await run.work(seconds > 0 ? compactionMs + 4_000 : 4_000);
      }
      for (const clock of clocks.values()) clock.shift(0);
    },
  },
];
