/** Short runs of the load generator, as points of curves. */
import { execFileSync } from 'node:child_process';
import { Load } from '../load.mjs';
import { ServerProcess } from '../server-process.mjs';

export const megabytes = (bytes) => bytes / 1e6;

/** Thousands of clients connect from one address, faster than any cluster reconnects. */
const noHandshakeLimit = [
  '--max-tls-handshakes-per-second=0',
  '--max-tls-handshakes-per-second-per-address=0',
];

/** Runs `measure` with a new server and its load generator, and stops both. */
export async function withServer(measure) {
  const server = new ServerProcess(noHandshakeLimit);
  let load;
  try {
    await server.start();
    load = new Load(server);
    await load.ready;
    await measure({ server, load });
  } finally {
    await load?.stop();
    await server.stop();
  }
}

/**
 * Sends requests from `connectionCount` connections and returns rate, latency and the CPU time of
 * each request in all processes of `servers`, which has a method `cpuUs`.
 */
export async function rate(servers, load, settings) {
  const before = servers.cpuUs();
  const { requestCount, seconds, p50Ms, p99Ms } = await load.run('load', {
    requestsMin: 0,
    ...settings,
  });
  const cpuUs = (servers.cpuUs() - before) / requestCount;
  return { perSecond: requestCount / seconds, p50Ms, p99Ms, cpuUs };
}

/** Returns the figures with a prefix: `perSecond` becomes `getPerSecond`. */
export function named(prefix, figures) {
  return Object.fromEntries(
    Object.entries(figures).map(([key, value]) => [
      prefix + key[0].toUpperCase() + key.slice(1),
      value,
    ]),
  );
}

/** Restricts all threads of a process to cores such as `0` or `0-3`. */
export function pin(pid, cores) {
  execFileSync('taskset', ['-a', '-c', '-p', cores, String(pid)], { stdio: 'ignore' });
}
