/**
 * `--detach`: the supervisor as a background process in a session of its own. The starter waits for its
 * word over the channel between parent and child, and ends with it.
 */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { openLog } from './log-files.js';
import { UserError } from './user-error.js';

export type SupervisorMessage =
  | { readonly kind: 'progress' | 'ready'; readonly text: string }
  | { readonly kind: 'failed'; readonly text: string };

/** Starts the supervisor with the same command line; 0 when ready. Throws `UserError` with its reason. */
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

/** From the detached supervisor to whoever started it; nothing when that is gone. */
export function tellStarter(message: SupervisorMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.connected || !process.send) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}
