/** Reads what the process runtime needs to know of the host's processes from `/proc`. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** User and system time, that of waited-for children included, in clock ticks. */
  readonly cpuTicks: number;
  /** Start, in clock ticks since boot. */
  readonly startTicks: number;
  readonly residentPages: number;
}

/** Fixed by Linux for user space, whatever the kernel's own tick is. */
export const clockTicksPerSecond = 100;
export const pageBytes = 4096;

/** Undefined where the process is gone. */
function readProc(pid: number | string, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return undefined;
    throw error;
  }
}

export function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** Empty for kernel threads and zombies, undefined for what is gone. */
export function commandLine(pid: number): string[] | undefined {
  return readProc(pid, 'cmdline')?.split('\0').slice(0, -1);
}

export function processEntry(pid: number): ProcessEntry | undefined {
  const text = readProc(pid, 'stat');
  if (!text) return undefined;
  // The name in parentheses may hold anything; fields are counted after its end.
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

/** The process's id as it sees itself, in the innermost process namespace. */
export function innermostPid(pid: number): number | undefined {
  const line = readProc(pid, 'status')?.match(/^NSpid:\s*(.*)$/m)?.[1];
  return line === undefined ? undefined : Number(line.split(/\s+/).at(-1));
}

/** Identity of a namespace the process is in, such as `pid:[4026531836]`. */
export function namespaceOf(pid: number, kind: 'pid' | 'net'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return undefined;
    throw error;
  }
}

/** When the machine started, milliseconds since the epoch. */
export function bootTimeMs(): number {
  const seconds = readProc('.', 'stat')?.match(/^btime (\d+)$/m)?.[1];
  return Number(seconds ?? 0) * 1000;
}
