/**
 * `npm test`: sets up and runs every stage, cheapest first, each as a child process whose output
 * passes through. All stages run even if one fails. At the end: the failed tests, tests that passed
 * only at a second attempt, a table of results and times, and one line `N passed, N failed`. `npm
 * test -- unit e2e` runs only the named stages, `npm run check` the quick ones.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { vitestStage } from './vitest-stage.mjs';

const root = resolve(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'orch-test-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

const installation = { name: 'install', command: ['node', 'scripts/setup.mjs', '--install-only'] };
const build = { name: 'build', command: ['node', 'scripts/setup.mjs'] };
// Tests that need etcd fail without it, each with advice, so a failed installation ends nothing.
const etcd = { name: 'etcd', command: ['node', 'scripts/setup-etcd.mjs'], isOptional: true };

/** A stage counts as one test unless `count` reads the numbers of its own runner. */
const stages = [
  { name: 'generated', command: ['npm', 'run', '-s', 'generate:check'] },
  { name: 'lint', command: ['npm', 'run', '-s', 'lint'] },
  { name: 'typecheck', command: ['npm', 'run', '-s', 'typecheck'] },
  { ...vitest('unit', '--project', 'unit*') },
  { ...repeatedVitest('server', '--project', 'server*'), needs: [build, etcd] },
  { ...summarized('fuzz', 'scripts/fuzz.mjs', '--short'), needs: [build] },
  { name: 'simulation', command: ['node', 'scripts/simulate.mjs', '--short'], needs: [build] },
  { ...summarized('conformance', 'test/conformance/run.mjs'), needs: [build] },
  { ...summarized('behaviour', 'test/conformance/behaviour.mjs', '--short'), needs: [build] },
  { ...repeatedVitest('chart', '--config', 'test/chart/vitest.config.ts'), needs: [build] },
  { ...repeatedVitest('e2e', '--config', 'test/e2e/vitest.config.ts'), needs: [build] },
  { name: 'scale', command: ['node', 'test/scale/short.mjs'], needs: [build] },
  { ...summarized('chaos', 'scripts/chaos.mjs', '--short'), needs: [build] },
];

function vitest(name, ...args) {
  return vitestStage({ root, scratch, name, args });
}

function repeatedVitest(name, ...args) {
  return vitestStage({ root, scratch, name, args, repeats: true });
}

/** A script that writes its counts to the file of `--summary`. */
function summarized(name, script, ...args) {
  const summary = `${name}.json`;
  return {
    name,
    command: ['node', script, ...args, '--summary', join(scratch, summary)],
    count: () => readJson(summary),
  };
}

function readJson(file) {
  return JSON.parse(readFileSync(join(scratch, file), 'utf8'));
}

function run(command) {
  return new Promise((done) => {
    const child = spawn(command[0], command.slice(1), { cwd: root, stdio: 'inherit' });
    child.on('error', (error) => {
      console.error(`${command[0]}: ${error.message}`);
      done(127);
    });
    child.on('exit', (code, signal) => done(signal ? 1 : code));
  });
}

/** Returns the counts of a run that ended with `exitCode`, and the names of failed tests. */
function resultOf(stage, count, exitCode) {
  const failedStage = { passed: 0, failed: 1, failures: [stage.name] };
  if (!count) return exitCode === 0 ? { passed: 1, failed: 0 } : failedStage;
  try {
    const counted = count();
    // A runner that reports success and then dies has still failed.
    if (exitCode === 0 || counted.failed > 0) return counted;
    return { ...counted, failed: 1, failures: [`${stage.name}: exit code ${exitCode}`] };
  } catch (error) {
    console.error(`${stage.name}: no result (${error.message})`);
    return failedStage;
  }
}

async function resultOfStage(stage) {
  const result = resultOf(stage, stage.count, await run(stage.command));
  const command = result.failed > 0 && stage.secondAttempt && stage.secondAttempt.command();
  if (!command) return result;
  console.log(`\n== ${stage.name}, second attempt`);
  return resultOf(stage, stage.secondAttempt.count, await run(command));
}

function selectedStages(names) {
  const unknown = names.filter((name) => !stages.some((stage) => stage.name === name));
  if (unknown.length > 0) {
    const all = stages.map(({ name }) => name).join(', ');
    console.error(`unknown stage ${unknown.join(', ')}: use ${all}`);
    process.exit(2);
  }
  return stages.filter(({ name }) => names.length === 0 || names.includes(name));
}

const startedAt = performance.now();
const rows = [];
const total = { passed: 0, failed: 0 };

const secondsSince = (startMs) => Math.round((performance.now() - startMs) / 1000);

/** Runs the steps that the stages need, each once. Returns whether the stages can run. */
async function setup(selected) {
  const steps = new Set([installation, ...selected.flatMap(({ needs = [] }) => needs)]);
  const setupStartedAt = performance.now();
  for (const { name, command, isOptional } of steps) {
    if ((await run(command)) === 0 || isOptional) continue;
    console.error(`setup failed: ${name}`);
    return false;
  }
  rows.push(['setup', '', '', `${secondsSince(setupStartedAt)} s`]);
  return true;
}

function printTable() {
  const table = [
    ['stage', 'passed', 'failed', 'time'],
    ...rows,
    ['total', total.passed, total.failed, `${secondsSince(startedAt)} s`],
  ].map((row) => row.map(String));
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  console.log();
  for (const [name, ...numbers] of table) {
    const cells = numbers.map((text, index) => text.padStart(widths[index + 1]));
    console.log([name.padEnd(widths[0]), ...cells].join('  '));
  }
}

/** Vitest and the scripts print each failure where it happens, far above the end. */
function printNames(title, names) {
  if (names.length === 0) return;
  console.log(`\n${title}:`);
  for (const name of names) console.log(`  ${name}`);
}

const selected = selectedStages(process.argv.slice(2));
if (!(await setup(selected))) {
  console.log('0 passed, 1 failed');
  process.exit(1);
}
const failures = [];
const repeated = [];
for (const stage of selected) {
  console.log(`\n== ${stage.name}`);
  const stageStartedAt = performance.now();
  const result = await resultOfStage(stage);
  const { passed, failed } = result;
  total.passed += passed;
  total.failed += failed;
  failures.push(...(result.failures ?? (failed > 0 ? [`${stage.name}: ${failed} failed`] : [])));
  repeated.push(...(result.repeated ?? []));
  rows.push([stage.name, passed, failed, `${secondsSince(stageStartedAt)} s`]);
}
printNames('failed', failures);
printNames('passed at the second attempt only', repeated);
printTable();
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);
