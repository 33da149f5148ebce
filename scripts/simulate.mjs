/**
 * Builds stale outputs and runs the simulation, with one of:
 * - npm run simulate -- --seed S --steps N [--count C] [--faults a,b] [--scenario NAME] [--trace]
 * - npm run simulate -- --regressions | --replay | --canary [NAME...] | --short
 *
 * `--short` is the form of `npm test`: some seeds, the regressions, one seed twice, and the quick
 * planted bugs. See docs/simulation.md.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { buildTests, root } from './build-tests.mjs';

const given = process.argv.slice(2);

function run(command, args) {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

function simulate(script, args) {
  return run(process.execPath, [join(root, 'dist', 'test', 'simulation', script), ...args]);
}

function short() {
  const statuses = [
    simulate('main.js', ['--seed', '1', '--count', '60', '--steps', '5000']),
    simulate('main.js', ['--regressions', '--steps', '2000']),
    simulate('main.js', ['--replay', '--seed', '7', '--steps', '5000']),
    simulate('canary.js', ['--quick']),
  ];
  return statuses.find((status) => status !== 0) ?? 0;
}

await buildTests(['history', 'simulation']);
if (given.includes('--short')) process.exitCode = short();
else if (given.includes('--canary')) {
  const rest = given.filter((word) => word !== '--canary');
  process.exitCode = simulate('canary.js', rest);
} else process.exitCode = simulate('main.js', given);
