/** Whether a port can be listened on, found out by doing it. */
import { createServer } from 'node:net';

/** Undefined when it can; otherwise what stands against it. */
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
