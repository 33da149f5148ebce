/** Runs one scenario from an empty directory to its result and retains the files of a failure. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Violation } from '../history/history.js';
import { checkRun } from './checks/check-run.js';
import { defaultLoad } from './load/load.js';
import { reportOf, type ScenarioReport } from './report.js';
import { Run } from './run.js';
import type { Scenario } from './scenario.js';
import { ChaosCluster } from './support/chaos-cluster.js';
import { Random } from './support/random.js';

export interface RunOptions {
  readonly seed: number;
  /** Retained after a failure, removed after success. */
  readonly directory: string;
  readonly isVerbose: boolean;
}

export async function runScenario(
  scenario: Scenario,
  { seed, directory, isVerbose }: RunOptions,
): Promise<ScenarioReport> {
  const startedMs = performance.now();
  const { times = 1 } = scenario;
  const reason = scenario.unavailable?.();
  if (reason !== undefined) return { scenario, verdict: 'skipped', reason, seed };
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const random = new Random(seed);
  const story: string[] = [];
  const say = (text: string) => {
    const line = `${new Date().toISOString()} +${((performance.now() - startedMs) / 1000).toFixed(1)} s  ${text}`;
    story.push(line);
    if (isVerbose) console.log(line);
  };
  const options = { size: 3, ...scenario.cluster };
  const cluster = await ChaosCluster.create(directory, options, () => random.next());
  const run = new Run(cluster, random.fork(), { ...defaultLoad, ...scenario.load }, say);
  const violations: Violation[] = [];
  let failedAs: string | undefined;
  try {
    await run.start();
    say('under load');
    for (let time = 0; time < times; time += 1) await scenario.run(run);
    if (!run.isFinished) await run.finish(scenario.gate.acknowledged);
  } catch (error) {
    failedAs = (error as Error).stack ?? String(error);
    say(failedAs);
    await run.load.stop();
  }
  await cluster.destroy();
  const checked = checkRun(run.load);
  violations.push(...run.violations, ...checked.violations);
  if (failedAs !== undefined) violations.push({ rule: 'did not recover', detail: failedAs });
  const report = reportOf(scenario, run, {
    seed,
    times,
    violations,
    failovers: run.failovers,
    eventCount: checked.eventCount,
    tookMs: performance.now() - startedMs,
    directory,
  });
  if (report.verdict === 'passed') {
    rmSync(directory, { recursive: true, force: true });
  } else {
    const { writes, reads } = run.load.notes;
    const lines = (records: readonly object[]) =>
      records.map((one) => JSON.stringify(one)).join('\n');
    writeFileSync(join(directory, 'writes.jsonl'), lines(writes));
    writeFileSync(join(directory, 'reads.jsonl'), lines(reads));
    writeFileSync(join(directory, 'story.txt'), story.join('\n'));
    writeFileSync(join(directory, 'violations.jsonl'), lines(violations));
  }
  return report;
}
