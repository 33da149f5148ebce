/**
 * Runs seeds. `--seed S` one seed (with `--trace` every line of it), `--count N` that many from the
 * first on, shared by the processors; `--faults a,b` with those kinds of faults only; `--scenario
 * NAME` staged; `--regressions` all that is staged. `--replay` runs each seed twice, in two
 * processes, and wants the same. Exit codes: 0 nothing found, 1 a violation, 2 wrong command line,
 * 3 no violation but runs with too little work.
 */
import { writeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { markNames } from '@orch/raft';
import { faultNames } from './faults.js';
import { runSeed, type SeedOptions, type SeedResult } from './run-seed.js';
import { scenarioOf, scenarios } from './scenarios.js';
import { answerQuestions, SeedWorker } from './seed-worker.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '20000' },
    count: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    faults: { type: 'string' },
    members: { type: 'string' },
    trace: { type: 'boolean', default: false },
    scenario: { type: 'string' },
    regressions: { type: 'boolean', default: false },
    replay: { type: 'boolean', default: false },
    worker: { type: 'boolean', default: false },
  },
});

const steps = positive('steps', values.steps);
const kind: Omit<SeedOptions, 'seed' | 'stepCount'> = {
  ...(values.scenario !== undefined && { scenario: scenarioOf(values.scenario).name }),
  ...(values.faults !== undefined && { faults: kinds(values.faults) }),
  ...(values.members !== undefined && { memberCount: positive('members', values.members) }),
};
/** Largest share of runs that did almost nothing: more show that the simulation is broken. */
const idleShareMax = 0.05;
/** Real time after which a seed is taken for hanging. */
const seedTimeoutMs = 120_000;

function positive(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number > 0) return number;
  say(`--${name}: want a whole number above 0, got ${text}`);
  process.exit(2);
}

function kinds(text: string): string[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !faultNames.includes(name));
  if (unknown.length === 0) return names;
  say(`--faults: no ${unknown.join(', ')}; there are ${faultNames.join(', ')}`);
  process.exit(2);
}

function say(text: string): void {
  writeSync(1, `${text}\n`);
}

function report(result: SeedResult, scenario = values.scenario): void {
  const { seed, violations, fingerprint, acknowledged, termCount, stepCount } = result;
  if (violations.length === 0) return;
  say(`seed ${seed} FAILED after ${stepCount} steps (${acknowledged} writes, ${termCount} terms)`);
  for (const { rule, detail } of violations.slice(0, 5)) {
    say(`  ${rule}: ${detail.slice(0, 2_000)}`);
  }
  say(
    `  fingerprint ${fingerprint}; again: npm run simulate -- --seed ${seed} --steps ${steps}${chosen(scenario)} --trace`,
  );
}

/** What else the command that repeats a run needs. */
function chosen(scenario: string | undefined): string {
  const given = { scenario, faults: values.faults, members: values.members };
  return Object.entries(given)
    .map(([name, value]) => (value === undefined ? '' : ` --${name} ${value}`))
    .join('');
}

type Task = Pick<SeedOptions, 'seed' | 'scenario'>;

/** It hung, or its process ended: what hangs here does so in a real process, too. */
function withoutResult(seed: number, error: unknown): SeedResult {
  return {
    seed,
    violations: [{ rule: 'no result', detail: String(error) }],
    isValid: true,
    fingerprint: '',
    stepCount: 0,
    acknowledged: 0,
    readCount: 0,
    unknown: 0,
    termCount: 0,
    faults: {},
    operations: {},
    marks: [],
  };
}

async function runAll(tasks: readonly Task[]): Promise<SeedResult[]> {
  const results: SeedResult[] = [];
  const queue = [...tasks];
  const startedMs = performance.now();
  const jobs = Math.min(positive('jobs', values.jobs), tasks.length);
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      const worker = new SeedWorker(process.argv[1]!);
      for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
        const simulation = import.meta.dirname;
        const question = { stepCount: steps, simulation, ...kind, ...task };
        const result = await worker
          .run(question, seedTimeoutMs)
          .catch((error: unknown) => withoutResult(task.seed, error));
        results.push(result);
        report(result, task.scenario);
        if (results.length % 100 === 0) {
          say(
            `${results.length} seeds in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`,
          );
        }
      }
      worker.close();
    }),
  );
  return results;
}

function total(all: readonly Readonly<Record<string, number>>[]): Map<string, number> {
  const totals = new Map<string, number>();
  for (const counts of all) {
    for (const [name, count] of Object.entries(counts)) {
      totals.set(name, (totals.get(name) ?? 0) + count);
    }
  }
  return totals;
}

function show(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([left], [right]) => (left < right ? -1 : 1));
  return sorted.map(([name, count]) => `${name} ${count}`).join(', ');
}

function coverage<Name extends string>(
  what: string,
  names: readonly Name[],
  isHit: (name: Name) => boolean,
): string {
  const missed = names.filter((name) => !isHit(name));
  const missing = missed.length > 0 ? `, not ${missed.join(', ')}` : '';
  return `${what}: ${names.length - missed.length} of ${names.length}${missing}`;
}

function summary(results: readonly SeedResult[]): number {
  const failed = results.filter(({ violations }) => violations.length > 0).length;
  const invalid = results.filter((one) => !one.isValid && one.violations.length === 0).length;
  const sum = (of: (result: SeedResult) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const hit = new Set(results.flatMap(({ marks }) => marks));
  const faults = total(results.map((result) => result.faults));
  say(
    `${results.length} seeds of ${steps} steps: ${sum(({ acknowledged }) => acknowledged)} writes acknowledged, ${sum(({ unknown }) => unknown)} of unknown outcome, ${sum(({ readCount }) => readCount)} reads, ${sum(({ termCount }) => termCount)} terms`,
  );
  say(`operators: ${show(total(results.map(({ operations }) => operations)))}`);
  say(`faults: ${show(faults)}`);
  say(coverage('kinds of faults', faultNames, (name) => faults.has(name)));
  say(coverage('branches of the core', markNames, (name) => hit.has(name)));
  say(
    `${results.length - failed} passed, ${failed} failed, ${invalid} of the passed with too little work`,
  );
  return failed > 0 ? 1 : invalid > results.length * idleShareMax ? 3 : 0;
}

/** One seed is one run, whichever process it runs in. */
async function replay(seeds: readonly number[]): Promise<number> {
  const simulation = import.meta.dirname;
  let differing = 0;
  for (const seed of seeds) {
    const results: SeedResult[] = [];
    for (let round = 0; round < 2; round += 1) {
      const worker = new SeedWorker(process.argv[1]!);
      results.push(
        await worker.run({ seed, stepCount: steps, simulation, ...kind }, seedTimeoutMs),
      );
      worker.close();
    }
    const [first, again] = results.map((result) => JSON.stringify(result));
    if (first === again) continue;
    differing += 1;
    say(`seed ${seed} differs when it is run again:\n  ${first}\n  ${again}`);
  }
  say(`${seeds.length} seeds run again, ${differing} differ`);
  return differing > 0 ? 1 : 0;
}

async function main(): Promise<number> {
  if (values.trace) {
    const seed = positive('seed', values.seed ?? '1');
    const result = await runSeed({ seed, stepCount: steps, ...kind, show: say });
    report(result);
    return summary([result]);
  }
  const first = positive('seed', values.seed ?? '1');
  const count = positive('count', values.count);
  if (values.regressions) {
    const staged = scenarios.map(({ name }) => ({ seed: first, scenario: name }));
    return summary(await runAll(staged));
  }
  const seeds = Array.from({ length: count }, (_, at) => first + at);
  if (values.replay) return replay(seeds);
  return summary(await runAll(seeds.map((seed) => ({ seed }))));
}

if (values.worker) answerQuestions();
else process.exitCode = await main();
