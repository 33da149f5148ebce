/**
 * Ports that stay the same over restarts: below the ephemeral ports of the kernel and below the
 * ports of the components of `orchctl up`.
 */
import { createServer } from 'node:net';

const lowest = 14_000;
const count = 6_000;
const attemptsMax = 200;
/** Recently returned ports, oldest first. A server that is down needs its port again later. */
const given = new Set<number>();
const givenMax = count / 2;

/** Returns a port without a listener that this process has not returned recently. */
export async function stablePort(): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * count);
    if (given.has(port)) continue;
    given.add(port);
    for (const oldest of given) {
      if (given.size <= givenMax) break;
      given.delete(oldest);
    }
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port found in ${attemptsMax} attempts`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
