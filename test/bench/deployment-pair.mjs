/**
 * Compares the time in which two checkouts create and bind the pods of a Deployment of 1,000
 * replicas on 20 nodes: `npm run bench:deployment -- TREE [--rounds=N] [--deployments=N]`.
 *
 * TREE is a checkout that `npm run build` has built. Each round starts a cluster of each side, in
 * alternating order, and creates the deployments one after the other: the first meets processes
 * whose code is cold. Each side runs as its `npm run up` does: on its own Node, with manager and
 * scheduler in one process if it can.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setupAndContinue } from '../../scripts/setup.mjs';
import { median, printRow } from './row.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    deployments: { type: 'string', default: '2' },
    replicas: { type: 'string', default: '1000' },
  },
});
const [rounds, deployments, replicas] = [values.rounds, values.deployments, values.replicas].map(
  Number,
);
const counts = [rounds, deployments, replicas];
if (positionals.length !== 1 || !counts.every((value) => Number.isInteger(value) && value >= 1)) {
  console.error('usage: npm run bench:deployment -- TREE [--rounds=N] [--deployments=N]');
  process.exit(2);
}
await setupAndContinue();
const { ManagedCluster } = await import('./managed-cluster.mjs');
const trees = { old: resolve(positionals[0]), new: resolve(import.meta.dirname, '../..') };
const settleMs = 2_500;

/** Returns the result of each deployment. */
async function measure(tree) {
  const together = existsSync(join(tree, 'dist/apps/components/src/main.js'));
  const cluster = new ManagedCluster(tree, { together });
  const results = [];
  try {
    await cluster.start(20 * deployments);
    for (let index = 0; index < deployments; index += 1) {
      results.push(await cluster.deploy(index, replicas, replicas * (index + 1)));
      // The events of the pods are written after them.
      await new Promise((done) => setTimeout(done, settleMs));
    }
  } finally {
    await cluster.stop();
  }
  return results;
}

const seconds = (ms) => (ms / 1_000).toFixed(2);
const cpuOf = ({ cpu }) => cpu.reduce((sum, [, used]) => sum + used, 0);
const results = { old: [], new: [] };
for (let round = 0; round < rounds; round += 1) {
  for (const side of round % 2 === 0 ? ['old', 'new'] : ['new', 'old']) {
    const measured = await measure(trees[side]);
    results[side].push(measured);
    const bound = measured.map(({ boundMs }) => seconds(boundMs)).join(', ');
    const cpu = measured.map((one) => cpuOf(one).toFixed(1)).join(', ');
    printRow(`round ${round + 1}, ${side}`, `${bound} s`, `CPU ${cpu} s`);
  }
}
for (let index = 0; index < deployments; index += 1) {
  const of = (figure) => ({
    old: results.old.map((measured) => figure(measured[index])),
    new: results.new.map((measured) => figure(measured[index])),
  });
  const bound = of(({ boundMs }) => boundMs);
  const cpu = of(cpuOf);
  const factors = bound.old.map((ms, round) => ms / bound.new[round]);
  printRow(
    `deployment ${index + 1}, medians`,
    `${seconds(median(bound.old))}, ${seconds(median(bound.new))} s`,
    `${median(factors).toFixed(2)} times as fast (pairs ${Math.min(...factors).toFixed(2)}-${Math.max(...factors).toFixed(2)}); CPU ${(median(cpu.old) / median(cpu.new)).toFixed(2)} times less`,
  );
}
