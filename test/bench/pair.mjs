/**
 * `npm run bench:pair -- TREE [--rounds=N] [--starts=N] [--only=REGEX] [--flag=FLAG]...
 * [--node-arg=ARG]...`: runs the same load in short alternating rounds against the server of this
 * checkout (new) and that of another built one (old), and prints for each path the best rounds of
 * both with their ratio new/old, and the median of the ratios of adjacent rounds with its 95%
 * interval. Both servers are started `--starts` times, and the rounds of all starts count: two
 * starts of one server can differ by 40% for as long as they run. `--only` selects paths by name,
 * `--flag` is passed to both servers, `--node-arg` to the Node.js of the new one. It asserts
 * nothing.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Load } from './load.mjs';
import { comparison, pairedRounds } from './paired-rounds.mjs';
import { count, median, printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';

const runMs = 250;
const listedCount = 5_000;
const listRequestCount = 4;
const watcherCount = 200;
const eventCount = 30;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '40' },
    starts: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    flag: { type: 'string', multiple: true, default: [] },
    'node-arg': { type: 'string', multiple: true, default: [] },
  },
});
const [roundCount, startCount] = [options.rounds, options.starts].map(Number);
const isCount = (value) => Number.isInteger(value) && value >= 1;
if (positionals.length !== 1 || !isCount(roundCount) || !isCount(startCount)) {
  console.error(
    'usage: npm run bench:pair -- TREE [--rounds=N] [--starts=N] [--only=REGEX] [--flag=FLAG]...',
  );
  process.exit(2);
}

/** Returns the rate in 1/s and the CPU time in microseconds of one request. */
async function rate({ server, load }, settings) {
  const before = server.cpuUs();
  const { requestCount, seconds } = await load.run('load', { requestsMin: 0, runMs, ...settings });
  return { perSecond: requestCount / seconds, cpuUs: (server.cpuUs() - before) / requestCount };
}

async function lists({ server, load }, path) {
  const before = server.cpuUs();
  const request = { path };
  const { timesMs } = await load.run('rounds', { request, roundCount: listRequestCount });
  return {
    perSecond: 1_000 / median(timesMs),
    cpuUs: (server.cpuUs() - before) / listRequestCount,
  };
}

/** Includes the creates that cause the events. The watches stay open for all rounds. */
async function watchFanOut(side) {
  const { server, load, writer } = side;
  if (!side.isWatching) {
    await load.run('watch', { namespace: 'watched', watcherCount });
    side.isWatching = true;
  }
  const before = server.cpuUs();
  const startedMs = performance.now();
  const fill = writer.run('fill', {
    create: 'watched',
    objectCount: eventCount,
    connectionCount: 16,
  });
  await load.run('watched', { eventCount: eventCount * watcherCount });
  const seconds = (performance.now() - startedMs) / 1_000;
  await fill;
  const deliveries = eventCount * watcherCount;
  return { perSecond: deliveries / seconds, cpuUs: (server.cpuUs() - before) / deliveries };
}

const one = '/api/v1/namespaces/read/configmaps/one';
const all = '/api/v1/namespaces/listed/configmaps';
const paths = {
  'create, 1 connection': (side) => rate(side, { create: 'created', connectionCount: 1 }),
  'create, 32 connections': (side) => rate(side, { create: 'created', connectionCount: 32 }),
  'create, 128 connections': (side) => rate(side, { create: 'created', connectionCount: 128 }),
  'get, quorum, 1 connection': (side) => rate(side, { request: { path: one }, connectionCount: 1 }),
  'get, quorum, 32 connections': (side) =>
    rate(side, { request: { path: one }, connectionCount: 32 }),
  'get, version 0, 32 connections': (side) =>
    rate(side, { request: { path: `${one}?resourceVersion=0` }, connectionCount: 32 }),
  [`list of ${listedCount}`]: (side) => lists(side, all),
  [`list of ${listedCount}, version 0`]: (side) => lists(side, `${all}?resourceVersion=0`),
  'page of 500': (side) => lists(side, `${all}?limit=500`),
  [`watch, ${watcherCount} watchers`]: watchFanOut,
};

async function start(tree, nodeArguments) {
  const server = new ServerProcess(options.flag, tree && resolve(tree), nodeArguments);
  const startMs = await server.start();
  const side = { server, load: new Load(server), writer: new Load(server), startMs };
  await Promise.all([side.load.ready, side.writer.ready]);
  for (const name of ['created', 'read', 'listed', 'watched']) await server.createNamespace(name);
  await server.call('POST', '/api/v1/namespaces/read/configmaps', {
    metadata: { name: 'one' },
    data: { payload: 'x'.repeat(900) },
  });
  await side.load.run('fill', { create: 'listed', objectCount: listedCount, connectionCount: 64 });
  return side;
}

async function stop({ server, load, writer }) {
  await Promise.all([load.stop(), writer.stop()]);
  await server.stop();
}

const digits = (value) => value.toFixed(value < 100 ? 1 : 0);

function text({ best, ratio, low, high, ...figures }, unit) {
  const values = `${digits(figures.old)} to ${digits(figures.new)}${unit}`;
  const [bestText, ...others] = [best, ratio, low, high].map((value) => value.toFixed(2));
  return `${values} = ${bestText}, pairs ${others[0]} (${others[1]}-${others[2]})`;
}

const selected = Object.entries(paths).filter(([name]) => new RegExp(options.only).test(name));
const roundsOfPaths = new Map(selected.map(([name]) => [name, []]));
const starts = [];
const megabytes = ({ server }) => server.residentBytes() / 1e6;

/** Starts both servers, adds the rounds of each path and the figures of the start. */
async function measureStart() {
  const sides = {
    old: await start(positionals[0]),
    new: await start(undefined, options['node-arg']),
  };
  try {
    for (const [name, run] of selected) {
      roundsOfPaths.get(name).push(...(await pairedRounds(sides, run, roundCount)));
    }
    starts.push({
      startMs: [sides.old.startMs, sides.new.startMs],
      megabytes: [megabytes(sides.old), megabytes(sides.new)],
    });
  } finally {
    await Promise.all([stop(sides.old), stop(sides.new)]);
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
