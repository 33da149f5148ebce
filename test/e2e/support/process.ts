/** Runs commands to their end and returns their output; ends other processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

export const repositoryRoot = resolve(import.meta.dirname, '../../..');

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Record<string, string>;
  readonly timeoutMs?: number;
}

/** Resolves with the outcome whatever the exit code; see `must`. */
export function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome> {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      cwd: repositoryRoot,
      env: { ...process.env, NO_COLOR: '1', ...options.env },
      timeout: options.timeoutMs ?? 120_000,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('error', fail);
    child.on('close', (code, signal) =>
      done({ code: code ?? 1, stdout, stderr: signal ? `${stderr}\nended by ${signal}` : stderr }),
    );
    // A command may end before it has read its input; its exit code shows whether that is an error.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** Runs the command and returns its output; rejects with the output unless the exit code is 0. */
export async function must(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, options);
  if (code !== 0) {
    throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`);
  }
  return stdout;
}

/** Ends a process with SIGTERM, and resolves when it has exited. */
export async function endProcess(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}
