/**
 * `npm test`: sets up and runs every check, cheapest first, each as a child process with its output
 * passed through, and closes with one line `N passed, N failed`. All stages run even if one fails.
 * `npm test -- unit e2e` runs only the stages named.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const scratch = mkdtempSync(join(tmpdir(), 'orch-test-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

/** A stage counts as one test unless `count` reads the numbers of its own runner. */
const stages = [
  { name: 'generated', command: ['npm', 'run', '-s', 'generate:check'] },
  { name: 'lint', command: ['npm', 'run', '-s', 'lint'] },
  { name: 'typecheck', command: ['npm', 'run', '-s', 'typecheck'] },
  vitest('unit', 'vitest.config.ts'),
  {
    name: 'fuzz',
    command: ['node', 'scripts/fuzz.mjs', '--short', '--summary', join(scratch, 'fuzz.json')],
    count: () => readJson('fuzz.json'),
  },
  { name: 'simulation', command: ['node', 'scripts/simulate.mjs', '--short'] },
  {
    name: 'conformance',
    command: ['node', 'test/conformance/run.mjs', '--summary', join(scratch, 'conformance.json')],
    count: () => readJson('conformance.json'),
  },
  vitest('chart', 'test/chart/vitest.config.ts'),
  vitest('e2e', 'test/e2e/vitest.config.ts'),
  {
    name: 'chaos',
    command: [
      ...['node', 'scripts/chaos.mjs', '--short', '--summary', join(scratch, 'chaos.json')],
    ],
    count: () => readJson('chaos.json'),
  },
];

function vitest(name, config) {
  const report = `${name}.json`;
  return {
    name,
    command: [
      ...['node', 'node_modules/vitest/vitest.mjs', 'run', '--config', config],
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

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !stages.some((stage) => stage.name === name));
if (unknown.length > 0) {
  console.error(
    `no stage ${unknown.join(', ')}; there are ${stages.map((s) => s.name).join(', ')}`,
  );
  process.exit(2);
}

const total = { passed: 0, failed: 0 };
const rows = [];
if ((await run(['node', 'scripts/setup.mjs'])) !== 0) {
  console.log('0 passed, 1 failed');
  process.exit(1);
}
// Without it the tests that need it fail, each with the same advice.
if (wanted.length === 0 || wanted.includes('unit')) await run(['node', 'scripts/setup-etcd.mjs']);
for (const stage of stages) {
  if (wanted.length > 0 && !wanted.includes(stage.name)) continue;
  console.log(`\n== ${stage.name}`);
  const startedAt = performance.now();
  const { passed, failed } = countOf(stage, await run(stage.command));
  total.passed += passed;
  total.failed += failed;
  rows.push([
    stage.name,
    passed,
    failed,
    `${Math.round((performance.now() - startedAt) / 1000)} s`,
  ]);
}
console.log();
for (const [name, passed, failed, took] of rows) {
  console.log(`${name.padEnd(12)} ${passed} passed, ${failed} failed in ${took}`);
}
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);
