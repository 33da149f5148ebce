/**
 * A process as pid and start time, so that a pid given anew to somebody else is never mistaken for it.
 * Linux: the start time is in clock ticks since boot, and the boot has an id.
 */
import { readFileSync } from 'node:fs';
import { sleep } from '@orch/component';

export interface ProcessIdentity {
  readonly pid: number;
  readonly startTicks: number;
  readonly bootId: string;
}

/** Undefined when there is no such process, or only its unreaped remains. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const startTicks = startTicksOf(pid);
  return startTicks === undefined ? undefined : { pid, startTicks, bootId: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identity.bootId === bootId() && startTicksOf(identity.pid) === identity.startTicks;
}

/** Sends a signal to exactly this process, false when it is gone. */
export function signalProcess(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}

/** True when all of them ended within `timeoutMs`. */
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
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error && isGone(error.code)) return undefined;
    throw error;
  }
  // The name in parentheses may hold anything; the fields after it are state, ppid, ...
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : Number(fields[19]);
}

function isGone(code: unknown): boolean {
  return code === 'ENOENT' || code === 'ESRCH';
}
