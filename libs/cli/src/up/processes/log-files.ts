/**
 * The log file of each component. Children write to it directly, so that they survive the
 * supervisor. Rotation copies a long file to `.1` and truncates it, which is safe for writers that
 * append.
 */
import { copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { clusterPaths } from '../cluster/cluster-directory.js';
import { logBytesMax, reportedLogLineCount } from '../cluster/limits.js';

export function logPath(dataDirectory: string, name: string): string {
  return join(clusterPaths(dataDirectory).logs, `${name}.log`);
}

/** A file descriptor in append mode, which the caller closes. */
export function openLog(dataDirectory: string, name: string): number {
  return openSync(logPath(dataDirectory, name), 'a', 0o600);
}

export function rotateLog(dataDirectory: string, name: string): void {
  const path = logPath(dataDirectory, name);
  if (statSync(path).size <= logBytesMax) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
}

/** The last lines after `fromBytes`, without stacks, for an error. */
export function lastLogLines(path: string, fromBytes: number): string[] {
  const text = readFileSync(path).subarray(fromBytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('    at '))
    .map((line) => line.replace(/ stack=".*$/, ''))
    .slice(-reportedLogLineCount);
}
