/**
 * What one server gains from more cores: its threads are restricted to the first cores, and the
 * load generator to the last one, which they share when the server has them all. Rounds alternate,
 * so that a machine whose speed drifts favours no number of cores.
 */
import { availableParallelism } from 'node:os';
import { median } from '../row.mjs';
import { megabytes, named, pin, rate, withServer } from './rates.mjs';

const connectionCount = 32;
const path = '/api/v1/namespaces/cores/configmaps/one';

async function measureRound({ server, load }, cores, runMs) {
  pin(server.pid, cores === 1 ? '0' : `0-${cores - 1}`);
  const create = { create: 'cores', connectionCount };
  const get = { request: { path }, connectionCount };
  return {
    ...named('create', await rate(server, load, { ...create, runMs })),
    ...named('get', await rate(server, load, { ...get, runMs })),
  };
}

function medians(rounds) {
  const keys = Object.keys(rounds[0]);
  return Object.fromEntries(keys.map((key) => [key, median(rounds.map((round) => round[key]))]));
}

/** Calls `add` with each point. */
export async function measureCores({ coresMax, roundCount, runMs, warmUpMs }, add) {
  const coreCount = Math.min(coresMax, availableParallelism());
  const sizes = Array.from({ length: coreCount }, (_, index) => index + 1);
  await withServer(async (bench) => {
    const { server, load } = bench;
    await server.createNamespace('cores');
    const object = { metadata: { name: 'one' }, data: { payload: 'x'.repeat(900) } };
    await server.call('POST', '/api/v1/namespaces/cores/configmaps', object);
    pin(load.child.pid, String(coreCount - 1));
    await rate(server, load, { create: 'cores', connectionCount, runMs: warmUpMs });
    const rounds = new Map(sizes.map((cores) => [cores, []]));
    for (let round = 0; round < roundCount; round += 1) {
      for (const cores of round % 2 === 0 ? sizes : [...sizes].reverse()) {
        rounds.get(cores).push(await measureRound(bench, cores, runMs));
      }
    }
    const memoryMb = megabytes(server.residentBytes());
    for (const [cores, figures] of rounds) add({ cores, ...medians(figures), memoryMb });
  });
}
