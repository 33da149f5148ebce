/**
 * Runs commands inside a container for a client. `script` of util-linux, a package that the runtime
 * requires anyway, creates the terminal and runs the command in it. `TerminalSizer` sets the size
 * of the terminal by its path.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { type RunningCommand, RuntimeError } from '../container-runtime.js';
import { helperEnvironment } from './helper-command.js';
import { killProcessGroup } from './proc.js';
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
    disconnect: () => killGroup(child),
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
  const path = child.stdio[3] as Readable;
  // Without the path the size of the terminal cannot be set.
  path.on('error', () => undefined);
  path.on('data', (text: Buffer) => terminal.appendPath(text.toString('latin1')));
  return {
    stdin: inputOf(child.stdin),
    stdout: child.stdout!,
    stderr: undefined,
    resize: (size) => terminal.resize(size),
    // Killing `script` closes the terminal, so the command receives a hang-up.
    disconnect: () => killGroup(child),
    exited: exitOf(child),
  };
}

/** Quotes a word for a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function inputOf(stdin: Writable | null): Writable | undefined {
  // A command may end without reading its input.
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
  // The caller handles the rejection; it may await `exited` later.
  exited.catch(() => undefined);
  return exited;
}

function killGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) killProcessGroup(pid);
}
