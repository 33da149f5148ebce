/**
 * What once went wrong, staged: members, limits and faults are fixed, and each step waits for what it needs,
 * so that a change of the random workload moves nothing. The bug that a scenario is about is planted again
 * by the canary of the same name, which shows that the scenario still finds it.
 */
import type { SimNode } from './sim-node.js';
import type { Tuning, World } from './world.js';

export interface Stage {
  readonly world: World;
  /** Throws when it does not come about within the simulated time: then the scenario shows nothing. */
  until(what: string, condition: () => boolean): Promise<void>;
}

export interface Scenario {
  readonly name: string;
  /** What went wrong. */
  readonly found: string;
  readonly memberCount: number;
  /** From machines without a process to the moment in question. Clients are there from the start. */
  play(stage: Stage): Promise<void>;
}

/** Nothing is scarce, and nothing is slow. */
export const steadyTuning: Tuning = {
  replica: { heartbeatMs: 50, electionMs: 500 },
  store: { historyRetentionMs: 60_000, logKeepEntries: 400 },
  clockRate: 0,
  wallSpreadMs: 0,
  clientPauseMs: 50,
  writeMs: [0, 0],
};

export const scenarios: readonly Scenario[] = [
  {
    name: 'disk-fails-while-noting-a-peer',
    found:
      'a replica whose disk failed while it noted a peer told that peer, before it ended, that its directory was wiped: a healthy process ended',
    memberCount: 3,
    async play({ world, until }) {
      const [first, ...others] = world.nodes as [SimNode, ...SimNode[]];
      void first.start();
      await until('the first runs', () => first.store !== undefined);
      first.disk.faults.syncErrorRate = 1;
      for (const node of others) void node.start();
      await until('it fails', () => !first.isRunning);
      first.disk.faults.syncErrorRate = 0;
    },
  },
];

export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (!scenario) throw new RangeError(`no scenario ${name}`);
  return scenario;
}
