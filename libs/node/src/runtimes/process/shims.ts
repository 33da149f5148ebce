/**
 * Launches, finds and signals the supervisors (`shim.sh`). A supervisor is known by its command line,
 * which names the container's directory, so no process id has to be trusted across restarts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, copyFileSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { withDeadline } from '@orch/component';
import { containerStartTimeoutMs } from '../../limits.js';
import { RuntimeError } from '../container-runtime.js';
import { helperEnvironment } from './helper-command.js';
import {
  bootTimeMs,
  clockTicksPerSecond,
  commandLine,
  innermostPid,
  listPids,
  processEntry,
} from './proc.js';

export interface StartRecord {
  /** The supervisor's and the command's process ids as they see themselves. */
  readonly shimPid: number;
  readonly commandPid: number;
  readonly startedAtMs: number;
}

export interface ExitRecord {
  readonly exitCode: number;
  readonly finishedAtMs: number;
}

export class Shims {
  private readonly script: string;

  constructor(root: string) {
    this.script = join(root, 'shim.sh');
  }

  /** Puts the script where running supervisors and new ones share it, and an upgrade does not cut it. */
  install(): void {
    const fresh = `${this.script}.new`;
    copyFileSync(join(import.meta.dirname, 'shim.sh'), fresh);
    renameSync(fresh, this.script);
  }

  /**
   * Starts the supervisor of the container in `directory`, wrapped in `wrapper` (the commands that make
   * its namespaces). Resolves with its process id once the container's command runs.
   */
  async launch(directory: string, wrapper: readonly string[]): Promise<number> {
    const [program, ...args] = [...wrapper, 'bash', this.script, 'start', directory];
    const errors = openSync(join(directory, 'errors'), 'a', 0o600);
    let child: ChildProcess;
    try {
      child = spawn(program!, args, {
        cwd: '/',
        detached: true,
        env: helperEnvironment,
        stdio: ['ignore', 'ignore', errors, 'pipe'],
      });
    } finally {
      closeSync(errors);
    }
    child.unref();
    const reports = child.stdio[3] as Readable;
    try {
      const failed = new Promise<never>((_resolve, reject) => child.once('error', reject));
      return await withDeadline(
        Promise.race([this.readReports(reports, directory), failed]),
        containerStartTimeoutMs,
        'start of a container',
      );
    } finally {
      reports.destroy();
    }
  }

  private async readReports(reports: Readable, directory: string): Promise<number> {
    let text = '';
    for await (const chunk of reports) text += String(chunk);
    const lines = text.split('\n');
    const refusal = lines.find((line) => line.startsWith('error '));
    if (refusal) throw new RuntimeError('StartFailed', refusal.slice('error '.length));
    const pid = lines.find((line) => line.startsWith('pid '));
    if (!pid || !lines.includes('ok')) {
      const said = readFileSync(join(directory, 'errors'), 'utf8').trim();
      throw new RuntimeError('StartFailed', `the container's supervisor did not start: ${said}`);
    }
    return Number(pid.slice('pid '.length));
  }

  isAlive(pid: number, directory: string): boolean {
    return this.directoryOf(commandLine(pid)) === directory;
  }

  /** Supervisors alive on this host, by container directory. */
  findAll(): Map<string, number> {
    const candidates = new Map<number, string>();
    for (const pid of listPids()) {
      const directory = this.directoryOf(commandLine(pid));
      if (directory) candidates.set(pid, directory);
    }
    const found = new Map<string, number>();
    for (const [pid, directory] of candidates) {
      // What it has forked, such as its log pumps, has the same command line.
      const parentPid = processEntry(pid)?.parentPid ?? 0;
      if (candidates.get(parentPid) === directory) continue;
      const started = readStart(directory);
      if (started && innermostPid(pid) !== started.shimPid) continue;
      found.set(directory, pid);
    }
    return found;
  }

  private directoryOf(argv: readonly string[] | undefined): string | undefined {
    return argv?.[1] === this.script && argv[2] === 'run' ? argv[3] : undefined;
  }
}

/** False if it is gone. */
export function signal(pid: number, name: 'SIGTERM' | 'SIGUSR1' | 'SIGUSR2' | 'SIGKILL'): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/**
 * Kills the process group of a command whose supervisor is gone. Only without a process namespace:
 * with one, the kernel has done it. The start time shows that the id is not another process's by now.
 */
export function killOrphans(started: StartRecord): void {
  const entry = processEntry(started.commandPid);
  if (!entry || entry.groupId !== started.commandPid) return;
  const startMs = bootTimeMs() + (entry.startTicks / clockTicksPerSecond) * 1000;
  if (Math.abs(startMs - started.startedAtMs) > 2_000) return;
  signal(-started.commandPid, 'SIGKILL');
}

export function readStart(directory: string): StartRecord | undefined {
  const [shimPid, commandPid, seconds] = readRecord(join(directory, 'started')) ?? [];
  if (shimPid === undefined || commandPid === undefined || seconds === undefined) return undefined;
  return { shimPid, commandPid, startedAtMs: Math.round(seconds * 1000) };
}

export function readExit(path: string): ExitRecord | undefined {
  const [exitCode, seconds] = readRecord(path) ?? [];
  if (exitCode === undefined || seconds === undefined) return undefined;
  return { exitCode, finishedAtMs: Math.round(seconds * 1000) };
}

/** The numbers of a line that is complete. */
function readRecord(path: string): number[] | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  return text.endsWith('\n') ? text.trim().split(' ').map(Number) : undefined;
}
