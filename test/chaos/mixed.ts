/**
 * Faults of all kinds in random order on one cluster, under one continuous load. All records are
 * checked every few minutes, so that a failure is reported near its cause.
 */
import { checkRun } from './checks/check-run.js';
import { textOfViolations } from './report.js';
import type { Run } from './run.js';
import type { Scenario } from './scenario.js';

const checkEveryMs = 4 * 60_000;
/** Minimum per minute of a valid run. */
const faultsPerMinute = 2;
const acknowledgedPerMinute = 150;
const failoversPerMinute = 0.5;

/** Draws the faults of `scenarios`. */
export function mixedScenario(scenarios: readonly Scenario[], minutes: number): Scenario {
  return {
    number: 0,
    name: 'mixed',
    options: `--mixed --minutes ${minutes}`,
    shows: `faults in random order for ${minutes} minutes`,
    gate: {
      acknowledged: Math.floor(acknowledgedPerMinute * minutes),
      faults: Math.floor(faultsPerMinute * minutes),
      failovers: Math.floor(failoversPerMinute * minutes),
    },
    async run(run) {
      const untilMs = performance.now() + minutes * 60_000;
      let checkAtMs = performance.now() + checkEveryMs;
      while (performance.now() < untilMs) {
        const part = run.random.pick(scenarios);
        run.say(`- ${part.name}`);
        await part.run(run);
        await run.recover();
        if (performance.now() < checkAtMs) continue;
        await checkSoFar(run);
        checkAtMs = performance.now() + checkEveryMs;
      }
    },
  };
}

/** Runs each fault once on one cluster, which is faster than a cluster for each. */
export function sequenceOf(name: string, scenarios: readonly Scenario[]): Scenario {
  const sum = (which: 'acknowledged' | 'faults' | 'failovers') =>
    scenarios.reduce((total, { gate }) => total + gate[which], 0);
  return {
    number: 0,
    name,
    options: `--${name}`,
    shows: scenarios.map((part) => part.name).join(', '),
    gate: {
      acknowledged: sum('acknowledged') / 2,
      faults: sum('faults'),
      failovers: sum('failovers'),
    },
    async run(run) {
      for (const part of scenarios) {
        run.say(`- ${part.name}`);
        await part.run(run);
        await run.recover();
      }
    },
  };
}

async function checkSoFar(run: Run): Promise<void> {
  const { load } = run;
  const revision = await load.settle();
  const check = await run.cluster.operator.check();
  if (!check.consistent) throw new Error(`servers differ: ${JSON.stringify(check)}`);
  const { violations } = checkRun(load);
  run.say(
    `checked up to revision ${revision}: ${load.notes.acknowledged} acknowledged, ${load.notes.reads.length} reads, ${run.faultCount} faults, ${run.countFailovers()} failovers, ${violations.length} violations`,
  );
  if (violations.length > 0) throw new Error(textOfViolations(violations));
  load.resume();
}
