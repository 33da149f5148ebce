/** Runs the `ip` command, with a time limit. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { addressCommandTimeoutMs, addressOutputBytesMax } from '../limits.js';

const run = promisify(execFile);

/** Returns the output; rejects with the error text of the command. */
export async function ip(...args: string[]): Promise<string> {
  const { stdout } = await run('ip', args, {
    timeout: addressCommandTimeoutMs,
    maxBuffer: addressOutputBytesMax,
  });
  return stdout;
}
