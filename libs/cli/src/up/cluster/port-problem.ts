/** Checks by listening whether a port is free. */
import { createServer } from 'node:net';

/** Why the port is not usable. Undefined if it is. */
export function portProblem(port: number, host: string): Promise<string | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = error.code === 'EADDRINUSE';
      resolve(inUse ? 'is in use by another process' : `cannot be used: ${error.message}`);
    });
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
