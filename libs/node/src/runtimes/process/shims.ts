/**
 * Launches and finds the supervisors (`shim.sh`). A supervisor is identified by its command line,
 * which contains the directory of the container, because process ids are not reliable across
 * restarts.
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
  killProcessGroup,
  listPids,
  processEntry,
} from './proc.js';

export interface StartRecord {
  /** Process ids of the supervisor and of the command in their own process namespace. */
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

  /** Installs the script atomically, so that an upgrade does not affect running supervisors. */
  install(): void {
    const fresh = `${this.script}.new`;
    copyFileSync(join(import.meta.dirname, 'shim.sh'), fresh);
    renameSync(fresh, this.script);
  }

  /**
   * Starts the supervisor of the container in `directory`, prefixed by `wrapper` (the commands that
   * create its namespaces). Resolves with its process id when the command of the container runs.
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
    const error = lines.find((line) => line.startsWith('error '));
    if (error) throw new RuntimeError('StartFailed', error.slice('error '.length));
    const pid = lines.find((line) => line.startsWith('pid '));
    if (!pid || !lines.includes('ok')) {
      const errors = readFileSync(join(directory, 'errors'), 'utf8').trim();
      throw new RuntimeError(
        'StartFailed',
        `the supervisor of the container did not start: ${errors}`,
      );
    }
    return Number(pid.slice('pid '.length));
  }

  isAlive(pid: number, directory: string): boolean {
    return this.directoryOf(commandLine(pid)) === directory;
  }

  /** Returns the process ids of running supervisors, by container directory. */
  findAll(): Map<string, number> {
    const candidates = new Map<number, string>();
    for (const pid of listPids()) {
      const directory = this.directoryOf(commandLine(pid));
      if (directory) candidates.set(pid, directory);
    }
    const found = new Map<string, number>();
    for (const [pid, directory] of candidates) {
      // Forked processes of a supervisor, such as its log pumps, have the same command line.
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

/**
 * Kills the process group of a command whose supervisor was killed. Needed only without a process
 * namespace, where the kernel does not do it. The start time guards against a reused process id.
 */
export function killOrphans(started: StartRecord): void {
  const entry = processEntry(started.commandPid);
  if (!entry || entry.groupId !== started.commandPid) return;
  const startMs = bootTimeMs() + (entry.startTicks / clockTicksPerSecond) * 1000;
  if (Math.abs(startMs - started.startedAtMs) > 2_000) return;
  killProcessGroup(started.commandPid);
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

/** Returns the numbers in a file; undefined if its line is incomplete. */
function readRecord(path: string): number[] | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  return text.endsWith('\n') ? text.trim().split(' ').map(Number) : undefined;
}
