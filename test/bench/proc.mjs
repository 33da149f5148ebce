/** Reads CPU time and memory of a process from the system. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * Returns the CPU time of the running threads so far, in microseconds. `/proc/PID/stat` includes
 * ended threads but counts in ticks of 10 ms, which are too long for short rounds.
 */
export function cpuUs(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, id) => sum + threadCpuUs(pid, id), 0);
}

/**
 * Returns the CPU time of one thread, in microseconds. The main thread has the id of the process.
 */
export function threadCpuUs(pid, threadId) {
  const schedstat = readFileSync(`/proc/${pid}/task/${threadId}/schedstat`, 'utf8');
  return Number(schedstat.split(' ')[0]) / 1_000;
}

export function residentBytes(pid) {
  return statusBytes(pid, 'VmRSS');
}

/** Returns the memory of a process; a page that `n` processes share counts as an `n`th. */
export function proportionalBytes(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)[1]) * 1_024;
}

/** Returns the peak memory since the last `forgetPeak`. */
export function peakBytes(pid) {
  return statusBytes(pid, 'VmHWM');
}

export function forgetPeak(pid) {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

function statusBytes(pid, field) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)[1]) * 1_024;
}
