/**
 * `--detach`: runs the supervisor as a background process in its own session. The starter waits for
 * its ready or failed message on the IPC channel and exits.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { UserError } from './cluster/user-error.js';
import { openLog } from './processes/log-files.js';

export type SupervisorMessage =
  | { readonly kind: 'progress' | 'ready'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string };

/**
 * Starts the supervisor with the same command line. Resolves with 0 when it is ready. Rejects with
 * `UserError` if it fails.
 */
export function runDetached(dataDirectory: string, argv: readonly string[]): Promise<number> {
  const log = openLog(dataDirectory, 'supervisor');
  const main = process.argv[1] ?? '';
  const child = spawn(process.execPath, [main, 'up', ...argv, '--as-detached-supervisor'], {
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => child.kill(signal));
  }
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new UserError(`cannot detach: ${error.message}`)));
    child.once('exit', (code, signal) =>
      reject(new UserError(`the supervisor ended before it was ready (${signal ?? code})`)),
    );
    child.on('message', (message: SupervisorMessage) => {
      if (message.kind === 'failed') {
        reject(new UserError(message.text));
        return;
      }
      process.stdout.write(`${message.text}\n`);
      if (message.kind !== 'ready') return;
      child.disconnect();
      child.unref();
      resolve(0);
    });
  });
}

/**
 * Sends a message from the detached supervisor to the starter. Does nothing if the starter has
 * exited.
 */
export function tellStarter(message: SupervisorMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || !process.send) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}
