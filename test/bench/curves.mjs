/**
 * `npm run bench:curves -- [--only=NAME,...] [--short] [--draw]`: measures how an API server grows
 * with objects, watchers, writers, replicas and cores, writes the points to
 * docs/curves/points.json, and writes docs/curves.md and its figures from them. `--only` measures
 * some curves and retains the others, `--draw` measures nothing. `--short` checks that everything
 * runs, and writes to a directory that it removes. Nothing is asserted.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setupAndContinue } from '../../scripts/setup.mjs';
import { charts } from './curves/charts.mjs';
import { drawChart } from './curves/draw.mjs';
import { curvesPage } from './curves/page.mjs';

await setupAndContinue();
// These import compiled code.
const { makeDirectory, removeDirectory } = await import('./bench-files.mjs');
const { measureCores } = await import('./curves/cores.mjs');
const { measureObjects } = await import('./curves/objects.mjs');
const { measureReadServers, measureReplicas } = await import('./curves/replicas.mjs');
const { measureWatchers } = await import('./curves/watchers.mjs');
const { measureWriters } = await import('./curves/writers.mjs');

const pointsFile = 'curves/points.json';
const measures = {
  objects: measureObjects,
  watchers: measureWatchers,
  writers: measureWriters,
  replicas: measureReplicas,
  cores: measureCores,
  'read-servers': measureReadServers,
};
/** Sized so that all curves together take less than ten minutes on 2 cores. */
const full = {
  objects: { sizes: [1_000, 10_000, 100_000, 300_000, 1_000_000], runMs: 2_000, fillSeconds: 260 },
  watchers: { sizes: [10, 100, 1_000, 10_000], deliveryCount: 200_000, singleEvents: 20 },
  writers: { sizes: [1, 4, 16, 64, 256, 1_024], runMs: 3_000, warmUpMs: 5_000 },
  replicas: { sizes: [1, 3, 5], runMs: 3_000, warmUpMs: 5_000 },
  cores: { coresMax: 64, roundCount: 5, runMs: 1_000, warmUpMs: 5_000 },
  'read-servers': { sizes: [1, 2, 3], runMs: 3_000, warmUpMs: 2_000 },
};
const short = {
  objects: { sizes: [100, 400], runMs: 100, fillSeconds: 20 },
  watchers: { sizes: [5, 20], deliveryCount: 200, singleEvents: 3 },
  writers: { sizes: [1, 4], runMs: 100, warmUpMs: 100 },
  replicas: { sizes: [1, 3], runMs: 100, warmUpMs: 100 },
  cores: { coresMax: 2, roundCount: 1, runMs: 100, warmUpMs: 100 },
  'read-servers': { sizes: [1, 2], runMs: 100, warmUpMs: 100 },
};

function optionsOf() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: Object.keys(measures).join(',') },
      short: { type: 'boolean', default: false },
      draw: { type: 'boolean', default: false },
    },
  });
  const names = values.only.split(',');
  const unknown = names.filter((name) => !Object.hasOwn(measures, name));
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown}; --only takes ${Object.keys(measures).join(', ')}`);
    process.exit(2);
  }
  return { ...values, names };
}

/** Returns the curve with its points; the figures have four digits. */
async function measured(name, settings) {
  const load = loadavg()[0].toFixed(1);
  const conditions = `Node ${process.versions.node}, ${availableParallelism()} cores of ${cpus()[0].model}, load average ${load} before`;
  const points = [];
  const startedMs = performance.now();
  const note = await measures[name](settings, (point) => {
    const digits = Object.entries(point).map(([key, value]) => [key, round(value)]);
    points.push(Object.fromEntries(digits));
    console.log(`${name}: ${JSON.stringify(points.at(-1))}`);
  });
  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  console.log(`${name}: ${seconds} s${note ? `; ${note}` : ''}`);
  const date = new Date().toISOString().slice(0, 10);
  return { date, conditions, seconds, ...(note && { note }), points };
}

function round(value) {
  return Number.isInteger(value) ? value : Number(value.toPrecision(4));
}

function draw(directory, curves) {
  for (const [name, { points }] of Object.entries(curves)) {
    writeFileSync(join(directory, 'curves', `${name}.svg`), drawChart(charts[name], points));
  }
  writeFileSync(join(directory, 'curves.md'), curvesPage(curves));
  console.log(`written: ${directory}/curves.md`);
}

/** Every finished curve is written, so that a failure loses no other. */
async function measureAll(directory, { names, short: isShort }, curves) {
  for (const name of names) {
    curves[name] = await measured(name, (isShort ? short : full)[name]);
    writeFileSync(join(directory, pointsFile), `${JSON.stringify(curves, null, 2)}\n`);
  }
}

const options = optionsOf();
const directory = options.short
  ? await makeDirectory('bench-curves')
  : resolve(import.meta.dirname, '../../docs');
try {
  mkdirSync(join(directory, 'curves'), { recursive: true });
  const file = join(directory, pointsFile);
  const curves = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  if (!options.draw) await measureAll(directory, options, curves);
  draw(directory, curves);
} finally {
  if (options.short) await removeDirectory(directory);
}
