/**
 * Measures the API server over TLS: creates, gets, lists and watch fan-out, each with the CPU time
 * of the server and the delay of its event loop. Another process generates the load. `npm run bench
 * -- api` runs all, `npm run bench -- get list` some. `ORCH_BENCH_OBJECTS` sets the number of
 * objects in a list.
 */
import { performance } from 'node:perf_hooks';
import { codecFor } from '../../dist/libs/apimachinery/src/index.js';
import { dialect } from '../../dist/libs/component/src/index.js';
import { Load } from './load.mjs';
import { count, median, printRow } from './row.mjs';
import { ServerProcess } from './server-process.mjs';

const short = process.argv.includes('--short');
const objectCount = Number(process.env.ORCH_BENCH_OBJECTS ?? (short ? 2_000 : 20_000));
const runMs = short ? 1_000 : 5_000;
const requestsMin = short ? 500 : 10_000;
const watcherCount = short ? 100 : 1_000;
const eventCount = short ? 50 : 300;
const roundCount = short ? 3 : 9;
const protobuf = dialect().protobufMediaType;
const table = `application/json;as=Table;v=v1;g=${dialect().metaGroup}`;

/** Measures the request rate, after a warm-up. */
async function rate({ server, load }, name, connectionCount, what) {
  const settings = { connectionCount, requestsMin, ...what };
  await load.run('load', { ...settings, runMs: runMs / 5, requestsMin: requestsMin / 10 });
  await server.loopDelay();
  const before = server.cpuUs();
  const { requestCount, seconds, p50Ms, p99Ms } = await load.run('load', { ...settings, runMs });
  const cpuUs = (server.cpuUs() - before) / requestCount;
  const { p99Ms: delayMs } = await server.loopDelay();
  printRow(
    name,
    `${count(requestCount / seconds)}/s`,
    `server ${cpuUs.toFixed(0)} us/request, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, loop p99 +${delayMs.toFixed(0)} ms`,
  );
}

/** Measures the duration of a large response. */
async function duration({ server, load }, name, request, rounds = roundCount) {
  await load.run('rounds', { request, roundCount: 2 });
  await server.loopDelay();
  server.forgetPeak();
  const residentBefore = server.residentBytes();
  const before = server.cpuUs();
  const { timesMs, bodyBytes } = await load.run('rounds', { request, roundCount: rounds });
  const cpuMs = (server.cpuUs() - before) / rounds / 1_000;
  const growthMb = Math.max(0, server.peakBytes() - residentBefore) / 1e6;
  const { maxMs } = await server.loopDelay();
  printRow(
    name,
    `${median(timesMs).toFixed(0)} ms`,
    `best ${Math.min(...timesMs).toFixed(0)} ms, server ${cpuMs.toFixed(0)} ms, ${(bodyBytes / 1e6).toFixed(1)} MB, memory +${growthMb.toFixed(1)} MB, loop max +${maxMs.toFixed(0)} ms`,
  );
}

/** Measures decoding and encoding each object of the list, which the server avoids. */
function decodedAndEncoded(name, list) {
  const codec = codecFor('core/v1.ConfigMap');
  const stored = JSON.parse(list).items.map((item) => Buffer.from(JSON.stringify(item)));
  const timesMs = Array.from({ length: 3 }, () => {
    const startedMs = performance.now();
    const items = stored.map((bytes) => codec.fromJson(JSON.parse(bytes.toString())));
    Buffer.from(JSON.stringify({ items: items.map((item) => codec.toJson(item)) }));
    return performance.now() - startedMs;
  });
  printRow(name, `${median(timesMs).toFixed(0)} ms`, 'in this process, nothing sent');
}

async function fanOut({ server, load }, name, settings) {
  const writer = new Load(server);
  const namespace = name.toLowerCase().replaceAll(/\W+/g, '-');
  await server.createNamespace(namespace);
  await load.run('watch', { namespace, watcherCount, ...settings });
  await server.loopDelay();
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
  writer.stop();
  const deliveries = eventCount * watcherCount;
  const cpuUs = server.cpuUs() - before;
  const { p99Ms } = await server.loopDelay();
  printRow(
    name,
    `${count(deliveries / seconds)}/s`,
    `${count(deliveries)} deliveries, server ${(cpuUs / deliveries).toFixed(2)} us/delivery = ${count((deliveries * 1e6) / cpuUs)}/s a core, loop p99 +${p99Ms.toFixed(0)} ms`,
  );
}

const benches = {
  async create(bench) {
    await bench.server.createNamespace('creates');
    for (const clients of [1, 32, 128]) {
      await rate(bench, `create 1 KB, ${clients} clients`, clients, { create: 'creates' });
    }
  },

  async quota(bench) {
    const { server } = bench;
    await server.createNamespace('charged');
    const path = '/api/v1/namespaces/charged/resourcequotas';
    const hard = { configmaps: '1000000000' };
    const quota = { metadata: { name: 'q' }, spec: { hard } };
    await server.call('POST', path, quota);
    // No quota controller runs beside the server.
    const status = { hard, used: { configmaps: '0' } };
    await server.call('PUT', `${path}/q/status`, { ...quota, status });
    for (const clients of [1, 32, 128]) {
      await rate(bench, `create 1 KB, with a quota, ${clients} clients`, clients, {
        create: 'charged',
      });
    }
  },

  async get(bench) {
    const { server } = bench;
    await server.createNamespace('gets');
    const path = '/api/v1/namespaces/gets/configmaps';
    await server.call('POST', path, {
      metadata: { name: 'one' },
      data: { payload: 'x'.repeat(900) },
    });
    await rate(bench, 'get 1.2 KB, quorum, 32 clients', 32, { request: { path: `${path}/one` } });
    await rate(bench, 'get 1.2 KB, version 0, 32 clients', 32, {
      request: { path: `${path}/one?resourceVersion=0` },
    });
    await rate(bench, 'get 1.2 KB, protobuf, 32 clients', 32, {
      request: { path: `${path}/one`, accept: protobuf },
    });
  },

  async list(bench) {
    const { server, load } = bench;
    await server.createNamespace('lists');
    await load.run('fill', { create: 'lists', objectCount, connectionCount: 64 });
    const path = '/api/v1/namespaces/lists/configmaps';
    printRow(
      `memory after ${count(objectCount)} objects`,
      `${count(server.residentBytes() / 1e6)} MB`,
    );
    const name = `list ${count(objectCount)}`;
    await duration(bench, `${name}, unset`, { path });
    await duration(bench, `${name}, version 0`, { path: `${path}?resourceVersion=0` });
    decodedAndEncoded(`${name}, decoded and encoded instead`, await server.call('GET', path));
    await duration(bench, `${name}, gzip`, { path, gzip: true }, 3);
    await duration(bench, 'list page of 500', { path: `${path}?limit=500` });
    await duration(bench, `${name}, protobuf`, { path, accept: protobuf }, 3);
    await duration(bench, `${name}, table`, { path, accept: table }, 3);
    await duration(bench, `${name}, by label`, { path: `${path}?labelSelector=app%3Dnone` }, 3);
  },

  async watch(bench) {
    await fanOut(bench, `watch, ${watcherCount} watchers, own connections`, {});
    await fanOut(bench, `watch, ${watcherCount} watchers, 4 HTTP2 connections`, {
      sessionCount: 4,
    });
  },
};

export const apiBenchNames = Object.keys(benches);

/** Runs the selected benches on a new server. */
export async function runApiBenches(names) {
  const server = new ServerProcess();
  let load;
  try {
    const startMs = await server.start();
    const startCpuMs = server.cpuUs() / 1_000;
    printRow('ready after start, empty', `${count(startMs)} ms`, `CPU ${count(startCpuMs)} ms`);
    load = new Load(server);
    await load.ready;
    for (const name of names) await benches[name]({ server, load });
    printRow('memory at the end', `${count(server.residentBytes() / 1e6)} MB`);
  } finally {
    load?.stop();
    await server.stop();
  }
}
