/** Runs the system tools that the process runtime uses, with a deadline and bounded output. */
import { spawn } from 'node:child_process';
import { helperCommandTimeoutMs, helperOutputBytesMax } from '../../limits.js';
import { RuntimeError } from '../container-runtime.js';
import { killProcessGroup } from './proc.js';

/** Environment of helper commands; it contains nothing of the agent's environment. */
export const helperEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC0',
};

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface CommandOptions {
  readonly timeoutMs: number;
  /** Bytes of each stream that are retained; the rest is discarded. */
  readonly outputBytesMax: number;
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Runs a program in its own process group and collects its output. At the deadline, kills the group
 * and rejects with `DeadlineExceeded`. Rejects with `Internal` if the program cannot be started.
 */
export function runCommand(
  program: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      detached: true,
      env: options.environment ?? helperEnvironment,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      if (child.pid !== undefined) killProcessGroup(child.pid);
    }, options.timeoutMs);
    const stdout = collect(child.stdout, options.outputBytesMax);
    const stderr = collect(child.stderr, options.outputBytesMax);
    child.on('error', (cause) => {
      clearTimeout(timer);
      reject(new RuntimeError('Internal', `${program} cannot be started`, { cause }));
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (timedOut) {
        const message = `${program} took longer than ${options.timeoutMs} ms`;
        reject(new RuntimeError('DeadlineExceeded', message));
        return;
      }
      const exitCode = code ?? (signal === 'SIGKILL' ? 137 : 143);
      resolve({ exitCode, stdout: stdout(), stderr: stderr() });
    });
    // A program may end without reading its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/**
 * Runs a helper command and returns its output. Rejects with `Internal` and its error output if it
 * fails.
 */
export async function runHelper(
  program: string,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const result = await runCommand(program, args, {
    timeoutMs: helperCommandTimeoutMs,
    outputBytesMax: helperOutputBytesMax,
    ...(input === undefined ? {} : { input }),
  });
  if (result.exitCode !== 0) {
    const errors = result.stderr.toString().trim();
    throw new RuntimeError(
      'Internal',
      `${program} ${args.join(' ')} failed with exit code ${result.exitCode}: ${errors}`,
    );
  }
  return result.stdout.toString();
}

function collect(stream: NodeJS.ReadableStream, bytesMax: number): () => Buffer {
  const chunks: Buffer[] = [];
  let byteCount = 0;
  stream.on('data', (chunk: Buffer) => {
    const room = bytesMax - byteCount;
    if (room <= 0) return;
    chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    byteCount += Math.min(room, chunk.length);
  });
  return () => Buffer.concat(chunks);
}
