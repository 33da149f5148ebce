/** The command line of chaos: see docs/chaos.md. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { canaries, runCanary } from './canaries.js';
import { failoverText, measureFailover } from './failover.js';
import { mixedScenario, sequenceOf } from './mixed.js';
import { type ScenarioReport, textOf } from './report.js';
import { runScenario } from './run-scenario.js';
import type { Scenario } from './scenario.js';
import { isMixed, scenarioCalled, scenarios, shortForm } from './scenarios/index.js';
import { repositoryRoot } from './support/repository.js';

/** Exit code 1: a failure, 2: a wrong command line, 3: an invalid run. */
const exitCodes = { failed: 1, usage: 2, invalid: 3 } as const;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', multiple: true },
    short: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    canaries: { type: 'boolean', default: false },
    with: { type: 'string', multiple: true },
    mixed: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '30' },
    'failover-kills': { type: 'string' },
    rounds: { type: 'string', default: '1' },
    seed: { type: 'string' },
    directory: { type: 'string', default: join(repositoryRoot, '.cache', 'chaos') },
    summary: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

function chosen(): readonly Scenario[] {
  if (values.scenario) return values.scenario.map(scenarioCalled);
  if (values.short) return [sequenceOf('short', shortForm.map(scenarioCalled))];
  if (values.all) return scenarios;
  if (values.mixed) {
    const parts = values.with ? values.with.map(scenarioCalled) : scenarios.filter(isMixed);
    return [mixedScenario(parts, number('minutes', values.minutes))];
  }
  throw new RangeError(
    'say which: --scenario NAME, --short, --all, --mixed, --failover-kills N, --canaries, or --list',
  );
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new RangeError(`--${name}: must be a number above 0, got ${JSON.stringify(text)}`);
}

async function measure(kills: number, seed: number): Promise<number> {
  const directory = join(values.directory, `failover-${seed}`);
  const figures = await measureFailover({ kills, transfers: kills, seed, directory });
  console.log(failoverText(figures));
  return 0;
}

async function findCanaries(seed: number): Promise<number> {
  let missed = 0;
  for (const [at, canary] of canaries.entries()) {
    const { found, text } = await runCanary(canary, seed, join(values.directory, `canary-${at}`));
    console.log(text);
    if (!found) missed += 1;
  }
  return missed === 0 ? 0 : exitCodes.failed;
}

async function main(): Promise<number> {
  if (values.list) {
    for (const { number, name, shows } of scenarios) console.log(`${number}\t${name}\t${shows}`);
    return 0;
  }
  const firstSeed = values.seed === undefined ? Date.now() % 2 ** 31 : number('seed', values.seed);
  const kills = values['failover-kills'];
  if (kills !== undefined) return measure(number('failover-kills', kills), firstSeed);
  if (values.canaries) return findCanaries(firstSeed);
  const reports: ScenarioReport[] = [];
  for (let round = 0; round < number('rounds', values.rounds); round += 1) {
    for (const scenario of chosen()) {
      const seed = firstSeed + round;
      const report = await runScenario(scenario, {
        seed,
        directory: join(values.directory, `${scenario.name}-${seed}`),
        isVerbose: values.verbose,
      });
      console.log(textOf(report));
      reports.push(report);
    }
  }
  const count = (verdict: string) => reports.filter((one) => one.verdict === verdict).length;
  console.log(
    `${count('passed')} passed, ${count('failed')} failed, ${count('invalid')} invalid, ${count('skipped')} skipped`,
  );
  if (values.summary !== undefined) {
    // Only a valid run counts as passed.
    const summary = { passed: count('passed'), failed: reports.length - count('passed') };
    writeFileSync(values.summary, JSON.stringify(summary));
  }
  if (count('failed') > 0) return exitCodes.failed;
  return count('invalid') > 0 ? exitCodes.invalid : 0;
}

/** Connections of abandoned calls may stay open: the process does not wait for them. */
try {
  process.exit(await main());
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  console.error(error.message);
  process.exit(exitCodes.usage);
}
