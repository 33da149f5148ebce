/** Reads CPU time and memory of a process from the system. */
import { readFileSync, writeFileSync } from 'node:fs';

const clockTicksPerSecond = 100;

/** Returns the CPU time of all threads so far, in microseconds. */
export function cpuUs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / clockTicksPerSecond;
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
