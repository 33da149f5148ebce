/**
 * Identifies a process by pid and start time, so that a reused pid is never mistaken for it. Linux
 * only: the start time is in clock ticks since boot, and the boot has an id.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { errorCode, sleep } from '@orch/component';

export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: number;
  readonly bootId: string;
}

/** The identity of a running process. Undefined if it does not exist or is a zombie. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTicks = startTicksOf(pid);
  return startTicks === undefined ? undefined : { pid, startTicks, bootId: bootId() };
}

/**
 * The running process with exactly this program and these last arguments. Compared are
 * whole arguments: a process that sets its title, such as npm, has one followed by empty ones.
 */
export function processWith(main: string, args: readonly string[]): ProcessIdentity | undefined {
  if (!isAbsolute(main)) throw new Error(`the program '${main}' is not an absolute path`);
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const [, program, ...rest] = textOf(`/proc/${entry}/cmdline`)?.split('\0').slice(0, -1) ?? [];
    const last = rest.slice(Math.max(0, rest.length - args.length));
    if (program === main && isDeepStrictEqual(last, args)) return identityOf(Number(entry));
  }
  return undefined;
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identity.bootId === bootId() && startTicksOf(identity.pid) === identity.startTicks;
}

/** Sends a signal to exactly this process. Returns false if it has exited. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Whether all processes exit within `timeoutMs`. */
export async function allEnded(
  identities: readonly ProcessIdentity[],
  timeoutMs: number,
): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (identities.some(isAlive)) {
    if (performance.now() > deadlineMs) return false;
    await sleep(50);
  }
  return true;
}

let knownBootId: string | undefined;

function bootId(): string {
  knownBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return knownBootId;
}

function startTicksOf(pid: number): number | undefined {
  const stat = textOf(`/proc/${pid}/stat`, 'latin1');
  if (stat === undefined) return undefined;
  // The name in parentheses may contain any character. The fields after it are state, ppid, ...
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : Number(fields[19]);
}

/** Undefined if the process has exited. */
function textOf(path: string, encoding: BufferEncoding = 'utf8'): string | undefined {
  try {
    return readFileSync(path, encoding);
  } catch (error) {
    if (isGone(errorCode(error))) return undefined;
    throw error;
  }
}

function isGone(code: unknown): boolean {
  return code === 'ENOENT' || code === 'ESRCH';
}
