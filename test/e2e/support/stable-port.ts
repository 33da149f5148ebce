/** Ports that stay free over restarts: below those that the kernel gives to outgoing connections. */
import { createServer } from 'node:net';

const lowest = 14_000;
const count = 5_500;
const attemptsMax = 200;
const given = new Set<number>();

/** A port that nobody listens on and that was not given before. */
export async function stablePort(): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * count);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
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
