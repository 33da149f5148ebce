/**
 * Entry of `npm run simulate -- --canary [NAME...]`: plants each bug in a copy of the compiled tree
 * and runs seeds there until one is found. A found bug must be the planted one: its seed must be
 * clean without it. Exit codes: 0 all found, 1 one was not found or could not be planted, 2 wrong
 * command line.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { canaries } from './canaries.js';
import type { Canary, Edit } from './planted-bug.js';
import { type Question, SeedWorker } from './seed-worker.js';

const dist = resolve(import.meta.dirname, '..', '..');
/** What a simulation consists of. */
const folders = ['libs/component', 'libs/raft', 'libs/store', 'test/history', 'test/simulation'];
const seedTimeoutMs = 300_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '2' },
    /** Those quick enough for every run of the tests. */
    quick: { type: 'boolean', default: false },
    /** Overrides the seed of each canary. */
    seed: { type: 'string' },
    count: { type: 'string' },
    steps: { type: 'string' },
  },
});

interface Outcome {
  readonly name: string;
  readonly ok: boolean;
  readonly line: string;
}

async function main(): Promise<number> {
  const unknown = positionals.filter((name) => !canaries.some((canary) => canary.name === name));
  if (unknown.length > 0) {
    console.error(`no canary ${unknown.join(', ')}`);
    return 2;
  }
  const wanted = canaries
    .filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    .filter(({ isQuick }) => !values.quick || isQuick);
  const queue = [...wanted];
  const outcomes: Outcome[] = [];
  const jobs = Math.min(number('jobs', values.jobs) ?? 1, wanted.length);
  await Promise.all(
    Array.from({ length: jobs }, async () => {
      const worker = new SeedWorker(join(import.meta.dirname, 'main.js'));
      for (let canary = queue.shift(); canary; canary = queue.shift()) {
        const outcome = await look(canary, worker);
        outcomes.push(outcome);
        console.log(`${outcome.ok ? 'found ' : 'FAILED'} ${outcome.name}: ${outcome.line}`);
      }
      worker.close();
    }),
  );
  const failed = outcomes.filter(({ ok }) => !ok).length;
  console.log(`${outcomes.length - failed} of ${outcomes.length} planted bugs found`);
  return failed > 0 ? 1 : 0;
}

function number(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  console.error(`--${name}: want a whole number above 0, got ${text}`);
  process.exit(2);
}

async function look(canary: Canary, worker: SeedWorker): Promise<Outcome> {
  const { name, edits, setting = [] } = canary;
  const { faults, memberCount, scenario } = canary;
  const kind = {
    ...(faults && { faults }),
    ...(memberCount && { memberCount }),
    ...(scenario && { scenario }),
  };
  const first = number('seed', values.seed) ?? canary.seed;
  const count = number('count', values.count) ?? canary.seedsMax;
  const stepCount = number('steps', values.steps) ?? canary.stepCount;
  const startedMs = performance.now();
  let simulation: string | undefined;
  try {
    simulation = plant([...setting, ...edits]);
    for (let seed = first; seed < first + count; seed += 1) {
      const found = await foundBy(worker, { simulation, seed, stepCount, ...kind });
      if (found === undefined) continue;
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
      const clean = await foundWithout(worker, setting, { seed, stepCount, ...kind });
      if (clean !== undefined) {
        return { name, ok: false, line: `seed ${seed} fails without it, too: ${clean}` };
      }
      const tries = seed - first + 1;
      return { name, ok: true, line: `seed ${seed}, ${tries} tried in ${seconds} s: ${found}` };
    }
    return { name, ok: false, line: `not in ${count} seeds of ${stepCount} steps: ${canary.bug}` };
  } catch (error) {
    return { name, ok: false, line: error instanceof Error ? error.message : String(error) };
  } finally {
    if (simulation) uproot(simulation);
  }
}

/** The first thing that is wrong; undefined: nothing. */
async function foundBy(worker: SeedWorker, question: Question): Promise<string | undefined> {
  const { violations } = await worker.run(question, seedTimeoutMs);
  const [violation] = violations;
  return violation && `${violation.rule}: ${violation.detail.slice(0, 160).split('\n')[0]}`;
}

async function foundWithout(
  worker: SeedWorker,
  setting: readonly Edit[],
  options: Omit<Question, 'simulation'>,
): Promise<string | undefined> {
  if (setting.length === 0) {
    return foundBy(worker, { ...options, simulation: import.meta.dirname });
  }
  const simulation = plant(setting);
  try {
    return await foundBy(worker, { ...options, simulation });
  } finally {
    uproot(simulation);
  }
}

/**
 * A copy of the compiled tree with the edits in it: its directory of the simulation. Throws when
 * one does not fit.
 */
function plant(edits: readonly Edit[]): string {
  const tree = mkdtempSync(join(tmpdir(), 'canary-'));
  const isNeeded = (path: string) => !/\.(map|spec\.js)$/.test(path);
  for (const folder of folders) {
    cpSync(join(dist, folder), join(tree, 'dist', folder), { recursive: true, filter: isNeeded });
  }
  for (const name of ['package.json', 'node_modules']) {
    symlinkSync(join(dist, '..', name), join(tree, name));
  }
  const simulation = join(tree, 'dist', 'test', 'simulation');
  try {
    for (const edit of edits) apply(join(tree, 'dist', 'libs', edit.file), edit);
  } catch (error) {
    uproot(simulation);
    throw error;
  }
  return simulation;
}

function uproot(simulation: string): void {
  rmSync(resolve(simulation, '..', '..', '..'), { recursive: true });
}

function apply(path: string, { file, find, replace }: Edit): void {
  const text = readFileSync(path, 'utf8');
  const words = find.split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const places = [...text.matchAll(new RegExp(words.join('\\s+'), 'g'))];
  const [place] = places;
  if (places.length !== 1 || !place) {
    throw new Error(`cannot be planted: ${places.length} places in ${file} are “${find}”`);
  }
  const after = text.slice(place.index + place[0].length);
  writeFileSync(path, text.slice(0, place.index) + replace + after);
}

process.exitCode = await main();
