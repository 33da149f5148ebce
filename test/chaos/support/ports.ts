/** Ports that stay the same over restarts: below those the kernel gives to outgoing connections. */
import { createServer } from 'node:net';

const lowest = 20_000;
const count = 12_000;
const attemptsMax = 200;
const given = new Set<number>();

/** A port that nobody listens on, and that this process has not given before. */
export async function stablePort(): Promise<number> {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * count);
    if (given.has(port)) continue;
    given.add(port);
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
