/** Access to the processes of the host: reads `/proc` and sends signals. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { errorCode } from '@orch/component';

export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** User and system time in clock ticks, including that of waited-for children. */
  readonly cpuTicks: number;
  /** Start time in clock ticks since boot. */
  readonly startTicks: number;
  readonly residentPages: number;
}

/** A constant of Linux for user space, independent of the kernel's tick. */
export const clockTicksPerSecond = 100;
export const pageBytes = 4096;

/**
 * Sends a signal. Returns false if the process does not exist. A negative `pid` addresses a process
 * group.
 */
export function sendSignal(
  pid: number,
  signal: 'SIGTERM' | 'SIGUSR1' | 'SIGUSR2' | 'SIGKILL',
): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Kills all processes of a group. */
export function killProcessGroup(groupId: number): void {
  sendSignal(-groupId, 'SIGKILL');
}

/** Returns the content of a file of a process; undefined if the process does not exist. */
function readProc(pid: number | string, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * Whether a file below `/proc` cannot be read because the process has ended or belongs to another
 * user.
 */
function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ESRCH', 'EACCES'].includes(errorCode(error) ?? '');
}

export function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/**
 * Returns the command line; empty for kernel threads and zombies, undefined if the process does not
 * exist.
 */
export function commandLine(pid: number): string[] | undefined {
  return readProc(pid, 'cmdline')?.split('\0').slice(0, -1);
}

export function processEntry(pid: number): ProcessEntry | undefined {
  const text = readProc(pid, 'stat');
  if (!text) return undefined;
  // The name in parentheses may contain any character, so fields are counted after its end.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const field = (position: number) => fields[position - 3] ?? 0;
  return {
    pid,
    parentPid: field(4),
    groupId: field(5),
    sessionId: field(6),
    cpuTicks: field(14) + field(15) + field(16) + field(17),
    startTicks: field(22),
    residentPages: field(24),
  };
}

/** Returns the id of the process in its innermost process namespace. */
export function innermostPid(pid: number): number | undefined {
  const line = readProc(pid, 'status')?.match(/^NSpid:\s*(.*)$/m)?.[1];
  return line === undefined ? undefined : Number(line.split(/\s+/).at(-1));
}

/** Returns the identity of a namespace of the process, such as `pid:[4026531836]`. */
export function namespaceOf(pid: number, kind: 'pid' | 'net'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns the boot time of the machine, in milliseconds since the epoch. */
export function bootTimeMs(): number {
  const seconds = readProc('.', 'stat')?.match(/^btime (\d+)$/m)?.[1];
  return Number(seconds ?? 0) * 1000;
}
