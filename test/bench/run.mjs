/**
 * `npm run bench -- [name...] [--short]`: runs the named benches, by default all, and prints one
 * table. It asserts nothing: people compare the figures. `--short` only checks that the benches
 * run.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { setupAndContinue } from '../../scripts/setup.mjs';
import { printHeading } from './row.mjs';

const others = [
  'log',
  'manager',
  'store',
  'schema',
  'scheduling',
  'scheduling-backlog',
  'scheduling-server',
  'authorization',
  'authorization-cost',
  'webhooks',
  'at-rest',
  'watch-index',
];

await setupAndContinue();
const { apiBenchNames, runApiBenches } = await import('./api.mjs');
const options = process.argv.slice(2).filter((argument) => argument.startsWith('--'));
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const known = ['api', ...apiBenchNames, ...others];
const unknown = [
  ...names.filter((name) => !known.includes(name)),
  ...options.filter((option) => option !== '--short' && !option.startsWith('--only=')),
];
if (unknown.length > 0) {
  console.error(
    `unknown: ${unknown.join(', ')}; supported: ${known.join(', ')}, --short and --only=PART,...`,
  );
  process.exit(2);
}

console.log(
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} cores of ${cpus()[0].model}, load before ${loadavg()[0].toFixed(1)}`,
);
const all = names.length === 0;
const api =
  all || names.includes('api')
    ? apiBenchNames
    : apiBenchNames.filter((name) => names.includes(name));
if (api.length > 0) {
  printHeading('API server');
  await runApiBenches(api);
}
for (const name of others.filter((other) => all || names.includes(other))) {
  printHeading(name);
  const script = join(import.meta.dirname, `${name}.mjs`);
  const { status } = spawnSync(process.execPath, [script, ...options], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
