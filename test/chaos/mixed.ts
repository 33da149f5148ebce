/**
 * Faults of all kinds in random order on one cluster that lives as long as the run, under one load that
 * goes on. Everything so far is checked every few minutes, so that a failure is told near its cause.
 */
import { checkRun } from './checks/check-run.js';
import { textOfViolations } from './report.js';
import type { Run } from './run.js';
import type { Scenario } from './scenario.js';

const checkEveryMs = 4 * 60_000;
/** Per minute of the run, for it to count. */
const faultsPerMinute = 2;
const acknowledgedPerMinute = 150;
const failoversPerMinute = 0.5;

/** `parts`: whose faults are drawn. */
export function mixedScenario(parts: readonly Scenario[], minutes: number): Scenario {
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
        const part = run.random.pick(parts);
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

/** Faults one after another, each once, on one cluster: less to start than a cluster for each. */
export function sequenceOf(name: string, parts: readonly Scenario[]): Scenario {
  const sum = (which: 'acknowledged' | 'faults' | 'failovers') =>
    parts.reduce((total, { gate }) => total + gate[which], 0);
  return {
    number: 0,
    name,
    options: `--${name}`,
    shows: parts.map((part) => part.name).join(', '),
    gate: {
      acknowledged: sum('acknowledged') / 2,
      faults: sum('faults'),
      failovers: sum('failovers'),
    },
    async run(run) {
      for (const part of parts) {
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
