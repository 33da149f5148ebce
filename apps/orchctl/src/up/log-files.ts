/**
 * The log file of each component. Children write to it themselves, so that they go on when the supervisor
 * dies; an overlong file is copied to `.1` and emptied, which appending writers do not notice.
 */
import { copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { clusterPaths } from './cluster-directory.js';
import { logBytesMax, shownLogLineCount } from './limits.js';

export function logPath(dataDirectory: string, name: string): string {
  return join(clusterPaths(dataDirectory).logs, `${name}.log`);
}

/** A descriptor that appends; the caller closes it. */
export function openLog(dataDirectory: string, name: string): number {
  return openSync(logPath(dataDirectory, name), 'a', 0o600);
}

export function rotateLog(dataDirectory: string, name: string): void {
  const path = logPath(dataDirectory, name);
  if (statSync(path).size <= logBytesMax) return;
  copyFileSync(path, `${path}.1`);
  truncateSync(path);
}

/** The last lines since `fromBytes`, without stacks, for a message. */
export function lastLogLines(path: string, fromBytes: number): string[] {
  const text = readFileSync(path).subarray(fromBytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('    at '))
    .map((line) => line.replace(/ stack=".*$/, ''))
    .slice(-shownLogLineCount);
}
