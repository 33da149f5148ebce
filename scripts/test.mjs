/**
 * `npm test`: sets up and runs every stage, cheapest first, each as a child process whose output
 * passes through. All stages run even if one fails. At the end: a table of results and times, and
 * one line `N passed, N failed`. `npm test -- unit e2e` runs only the named stages, `npm run check`
 * the quick ones.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

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
  { ...vitest('unit', '--project', 'unit') },
  { ...vitest('server', '--project', 'server'), needs: [build, etcd] },
  { ...summarized('fuzz', 'scripts/fuzz.mjs', '--short'), needs: [build] },
  { name: 'simulation', command: ['node', 'scripts/simulate.mjs', '--short'], needs: [build] },
  { ...summarized('conformance', 'test/conformance/run.mjs'), needs: [build] },
  { ...summarized('behaviour', 'test/conformance/behaviour.mjs', '--short'), needs: [build] },
  { ...vitest('chart', '--config', 'test/chart/vitest.config.ts'), needs: [build] },
  { ...vitest('e2e', '--config', 'test/e2e/vitest.config.ts'), needs: [build] },
  { ...summarized('chaos', 'scripts/chaos.mjs', '--short'), needs: [build] },
];

function vitest(name, ...args) {
  const report = `${name}.json`;
  return {
    name,
    command: [
      ...['node', 'node_modules/vitest/vitest.mjs', 'run', ...args],
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${join(scratch, report)}`],
    ],
    count: () => {
      const { numPassedTests, numFailedTests, testResults } = readJson(report);
      const brokenFiles = testResults.filter(
        (file) => file.status === 'failed' && file.assertionResults.length === 0,
      );
      return { passed: numPassedTests, failed: numFailedTests + brokenFiles.length };
    },
  };
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

function countOf(stage, exitCode) {
  if (stage.count) {
    try {
      const counted = stage.count();
      // A runner that reports success and then dies has still failed.
      if (exitCode === 0 || counted.failed > 0) return counted;
      return { passed: counted.passed, failed: 1 };
    } catch (error) {
      console.error(`${stage.name}: no result (${error.message})`);
      return { passed: 0, failed: 1 };
    }
  }
  return exitCode === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
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

const selected = selectedStages(process.argv.slice(2));
if (!(await setup(selected))) {
  console.log('0 passed, 1 failed');
  process.exit(1);
}
for (const stage of selected) {
  console.log(`\n== ${stage.name}`);
  const stageStartedAt = performance.now();
  const { passed, failed } = countOf(stage, await run(stage.command));
  total.passed += passed;
  total.failed += failed;
  rows.push([stage.name, passed, failed, `${secondsSince(stageStartedAt)} s`]);
}
printTable();
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);
