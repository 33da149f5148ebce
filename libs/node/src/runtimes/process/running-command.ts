/**
 * Commands that are run inside a container for somebody who waits for them. A terminal is made by
 * `script` of util-linux, which the runtime needs anyway for its other tools: it holds the terminal's
 * one end and runs the command at the other. The terminal's size is set from outside, by its name.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { type RunningCommand, RuntimeError } from '../container-runtime.js';
import { helperEnvironment } from './helper-command.js';
import { TerminalSizer } from './terminal-sizer.js';

export function startCommand(argv: readonly string[], stdin: boolean): RunningCommand {
  const [program, ...args] = argv;
  const child = spawn(program!, args, {
    cwd: '/',
    detached: true,
    env: helperEnvironment,
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  return {
    stdin: inputOf(child.stdin),
    stdout: child.stdout!,
    stderr: child.stderr!,
    resize: () => undefined,
    leave: () => killGroup(child),
    exited: exitOf(child),
  };
}

export function startInTerminal(argv: readonly string[]): RunningCommand {
  const inside = `tty >&3; exec 3>&-; exec ${argv.map(quoted).join(' ')}`;
  const child = spawn('script', ['-qefc', inside, '/dev/null'], {
    cwd: '/',
    detached: true,
    env: { ...helperEnvironment, SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
  });
  const terminal = new TerminalSizer();
  const name = child.stdio[3] as Readable;
  name.on('error', () => undefined); // no name, no size
  name.on('data', (text: Buffer) => terminal.named(text.toString('latin1')));
  return {
    stdin: inputOf(child.stdin),
    stdout: child.stdout!,
    stderr: undefined,
    resize: (size) => terminal.resize(size),
    // With its other end the terminal is gone, of which the command is told by a hang-up.
    leave: () => killGroup(child),
    exited: exitOf(child),
  };
}

/** One word for a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function inputOf(stdin: Writable | null): Writable | undefined {
  // A command that ends without reading its input is no fault of ours.
  stdin?.on('error', () => undefined);
  return stdin ?? undefined;
}

function exitOf(child: ChildProcess): Promise<number> {
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', (cause) => {
      reject(new RuntimeError('StartFailed', `the command cannot be started: ${cause.message}`));
    });
    child.once('exit', (code, signal) => {
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
  exited.catch(() => undefined); // told to whoever waits for it
  return exited;
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
