/**
 * `npm run bench:pair -- TREE [OPTION]...`: runs the same load in short alternating rounds against
 * the server of this checkout (new) and that of another built one (old), and prints for each path
 * the best rounds of both with their ratio new/old, and the median of the ratios of adjacent rounds
 * with its 95% interval. It asserts nothing. Options:
 *
 * - `--starts=N` (1): both are started N times, and the rounds of all starts count: two starts of
 *   one server can differ by 40% for as long as they run.
 * - `--rounds=N` (40) of each start, `--only=REGEX` selects paths by name.
 * - `--replicas=N` (1): clusters of N servers; creates at leader and follower, CPU of all servers.
 * - `--objects=N` (5,000) in lists, `--watchers=N` (200), `--events=N` (30) of a round.
 * - `--flag=FLAG` is passed to both servers, `--node-arg=ARG` to the Node.js of the new one.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { setupAndContinue } from '../../scripts/setup.mjs';
import { comparison, pairedRounds } from './paired-rounds.mjs';
import { count, median, printRow } from './row.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '40' },
    starts: { type: 'string', default: '1' },
    replicas: { type: 'string', default: '1' },
    objects: { type: 'string', default: '5000' },
    watchers: { type: 'string', default: '200' },
    events: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
    flag: { type: 'string', multiple: true, default: [] },
    'node-arg': { type: 'string', multiple: true, default: [] },
  },
});
const { rounds, starts: startsText, replicas, objects, watchers, events } = options;
const counts = [rounds, startsText, replicas, objects, watchers, events].map(Number);
const [roundCount, startCount, replicaCount, listedCount, watcherCount, eventCount] = counts;
if (positionals.length !== 1 || !counts.every((value) => Number.isInteger(value) && value >= 1)) {
  console.error('usage: npm run bench:pair -- TREE [--rounds=N] [--starts=N] [--only=REGEX]');
  process.exit(2);
}
await setupAndContinue();
const { pairPaths } = await import('./pair-paths.mjs');
const { PairSide } = await import('./pair-side.mjs');

const digits = (value) => value.toFixed(value < 100 ? 1 : 0);

function text({ best, ratio, low, high, ...figures }, unit) {
  const values = `${digits(figures.old)} to ${digits(figures.new)}${unit}`;
  const [bestText, ...others] = [best, ratio, low, high].map((value) => value.toFixed(2));
  return `${values} = ${bestText}, pairs ${others[0]} (${others[1]}-${others[2]})`;
}

const paths = pairPaths({ replicaCount, listedCount, watcherCount, eventCount });
const selected = Object.entries(paths).filter(([name]) => new RegExp(options.only).test(name));
const roundsOfPaths = new Map(selected.map(([name]) => [name, []]));
const starts = [];

/** Starts both servers, adds the rounds of each path and the figures of the start. */
async function measureStart() {
  const settings = { replicaCount, listedCount, flags: options.flag };
  const nodeArguments = options['node-arg'];
  const sides = {
    old: await PairSide.start(resolve(positionals[0]), settings),
    new: await PairSide.start(undefined, { ...settings, nodeArguments }),
  };
  try {
    for (const [name, run] of selected) {
      roundsOfPaths.get(name).push(...(await pairedRounds(sides, run, roundCount)));
    }
    starts.push({
      startMs: [sides.old.startMs, sides.new.startMs],
      megabytes: [sides.old.megabytes(), sides.new.megabytes()],
    });
  } finally {
    await Promise.all([sides.old.stop(), sides.new.stop()]);
  }
}

for (let index = 0; index < startCount; index += 1) {
  await measureStart();
  for (const [name, rounds] of roundsOfPaths) {
    const { ratio } = comparison(rounds.slice(-roundCount), 'perSecond', true);
    console.error(`start ${index + 1}, ${name}: ${ratio.toFixed(2)}`);
  }
}
const medians = (key) =>
  [0, 1].map((side) => count(median(starts.map((figures) => figures[key][side])))).join(' to ');
printRow('ready after start', `${medians('startMs')} ms`);
for (const [name, rounds] of roundsOfPaths) {
  const perSecond = text(comparison(rounds, 'perSecond', true), '/s');
  const cpu = text(comparison(rounds, 'cpuUs', false), ' us');
  printRow(name, '', `${perSecond}; server CPU ${cpu}`);
}
printRow('memory at the end', `${medians('megabytes')} MB`);
