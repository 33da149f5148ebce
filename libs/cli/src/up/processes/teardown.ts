/** Removes the pods or addresses of a killed process, with its own program and flags. */
import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { teardownTimeoutMs } from '../cluster/limits.js';
import { UserError } from '../cluster/user-error.js';
import { logPath, openLog } from './log-files.js';
import type { ChildRecord } from './run-state.js';

export async function tearDown(
  dataDirectory: string,
  { name, main, args }: Pick<ChildRecord, 'name' | 'main' | 'args'>,
): Promise<void> {
  const log = openLog(dataDirectory, name);
  const child = spawn(process.execPath, [main, ...args, '--teardown-only'], {
    stdio: ['ignore', log, log],
    timeout: teardownTimeoutMs,
    killSignal: 'SIGKILL',
  });
  closeSync(log);
  const how = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code === 0 ? '' : `${signal ?? code}`));
  });
  if (how === '') return;
  throw new UserError(
    `the pods or addresses of ${name} could not be removed (${how}); see ${logPath(dataDirectory, name)}`,
  );
}
