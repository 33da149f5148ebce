/**
 * `npm run bench:pair -- TREE [--rounds=N] [--only=REGEX] [--flag=FLAG]...`: runs the same load in
 * turns against the server of this checkout (new) and that of another built one (old), and prints
 * for each path the medians and the ratio new/old of its rounds: median, lowest and highest. Ratios
 * of adjacent runs hold on a machine whose speed drifts, single figures do not. `--only` selects
 * paths by name, `--flag` is passed to both servers. It asserts nothing.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Load } from './load.mjs';
import { count, median, printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';

const runMs = 2_000;
const listedCount = 5_000;
const listRequestCount = 12;
const watcherCount = 200;
const eventCount = 100;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    only: { type: 'string', default: '' },
    flag: { type: 'string', multiple: true, default: [] },
  },
});
const roundCount = Number(options.rounds);
if (positionals.length !== 1 || !Number.isInteger(roundCount) || roundCount < 1) {
  console.error('usage: npm run bench:pair -- TREE [--rounds=N] [--only=REGEX] [--flag=FLAG]...');
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

let namespaceCount = 0;

async function watchFanOut({ server, load, writer }) {
  namespaceCount += 1;
  const namespace = `watched-${namespaceCount}`;
  await server.createNamespace(namespace);
  await load.run('watch', { namespace, watcherCount });
  const before = server.cpuUs();
  const startedMs = performance.now();
  const fill = writer.run('fill', {
    create: namespace,
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
  'get, quorum, 32 connections': (side) =>
    rate(side, { request: { path: one }, connectionCount: 32 }),
  'get, version 0, 32 connections': (side) =>
    rate(side, { request: { path: `${one}?resourceVersion=0` }, connectionCount: 32 }),
  [`list of ${listedCount}`]: (side) => lists(side, all),
  [`list of ${listedCount}, version 0`]: (side) => lists(side, `${all}?resourceVersion=0`),
  'page of 500': (side) => lists(side, `${all}?limit=500`),
  [`watch, ${watcherCount} watchers`]: watchFanOut,
};

async function start(tree) {
  const server = new ServerProcess(options.flag, tree && resolve(tree));
  const startMs = await server.start();
  const side = { server, load: new Load(server), writer: new Load(server), startMs };
  await Promise.all([side.load.ready, side.writer.ready]);
  for (const name of ['created', 'read', 'listed']) await server.createNamespace(name);
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

function spread(values) {
  const digits = (value) => value.toFixed(2);
  return `${digits(median(values))} (${digits(Math.min(...values))}-${digits(Math.max(...values))})`;
}

function printPath(name, rounds) {
  const of = (side, key) => rounds.map((round) => round[side][key]);
  const ratios = (key) => spread(rounds.map((round) => round.new[key] / round.old[key]));
  const medians = (key) => `${count(median(of('old', key)))} to ${count(median(of('new', key)))}`;
  printRow(
    name,
    `${medians('perSecond')}/s`,
    `new/old ${ratios('perSecond')}; server CPU ${medians('cpuUs')} us, new/old ${ratios('cpuUs')}`,
  );
}

const sides = { old: await start(positionals[0]), new: await start() };
try {
  printRow('ready after start', `${count(sides.old.startMs)} to ${count(sides.new.startMs)} ms`);
  const selected = Object.entries(paths).filter(([name]) => new RegExp(options.only).test(name));
  for (const [name, run] of selected) {
    for (const side of Object.values(sides)) await run(side);
    const rounds = [];
    for (let round = 0; round < roundCount; round += 1) {
      const order = round % 2 === 0 ? ['old', 'new'] : ['new', 'old'];
      const figures = {};
      for (const side of order) figures[side] = await run(sides[side]);
      rounds.push(figures);
    }
    printPath(name, rounds);
  }
} finally {
  await Promise.all([stop(sides.old), stop(sides.new)]);
}
