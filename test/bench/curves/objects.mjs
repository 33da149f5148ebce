/** Reads, updates, lists and memory of one server while its store grows. */
import { freemem } from 'node:os';
import { performance } from 'node:perf_hooks';
import { median } from '../row.mjs';
import { megabytes, named, rate, withServer } from './rates.mjs';

const namespace = 'objects';
const fillConnections = 128;
const fillSlice = 5_000;
/** Below this the machine would start to kill processes. */
const freeBytesMin = 2e9;

/** Returns why the store cannot grow further, or nothing. */
function obstacle(deadlineMs) {
  if (performance.now() > deadlineMs) return 'time limit';
  return freemem() < freeBytesMin ? 'memory of the machine' : undefined;
}

async function duration(load, path, roundCount) {
  const { timesMs } = await load.run('rounds', { request: { path }, roundCount });
  return median(timesMs);
}

async function measurePoint({ server, load }, objects, runMs) {
  const settings = { connectionCount: 32, runMs, objectCount: objects };
  await load.run('load', { ...settings, update: namespace, runMs: runMs / 4, requestsMin: 0 });
  const update = await rate(server, load, { ...settings, update: namespace });
  const read = await rate(server, load, { ...settings, read: namespace });
  const memoryMb = megabytes(server.residentBytes());
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const pageMs = await duration(load, `${path}?limit=500`, 9);
  const listMs = await duration(load, path, 3);
  return {
    objects,
    ...named('update', update),
    ...named('get', read),
    memoryMb,
    peakMb: megabytes(server.peakBytes()),
    pageMs,
    listMs,
  };
}

/** Calls `add` with each point. Returns a note if the curve ends before the last size. */
export async function measureObjects({ sizes, runMs, fillSeconds }, add) {
  let note;
  await withServer(async (bench) => {
    const { server, load } = bench;
    await server.createNamespace(namespace);
    const deadlineMs = performance.now() + fillSeconds * 1_000;
    let objects = 0;
    for (const size of sizes) {
      while (objects < size && !note) {
        const objectCount = Math.min(fillSlice, size - objects);
        await load.run('fill', {
          create: namespace,
          objectCount,
          connectionCount: fillConnections,
        });
        objects += objectCount;
        const reason = obstacle(deadlineMs);
        if (reason) note = `ended at ${objects.toLocaleString('en')} objects: ${reason}`;
      }
      add(await measurePoint(bench, objects, runMs));
      if (note) return;
    }
  });
  return note;
}
