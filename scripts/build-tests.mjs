/**
 * Compiles suites that run without the test runner (`test/<folder>`) into the built tree, after
 * updating that tree. For scripts that run such a suite.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { setupAndContinue } from './setup.mjs';

export const root = resolve(import.meta.dirname, '..');

/** Runs a command with the output of this process; if it fails, exits with its code. */
export function runOrExit(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Builds stale outputs and `folders` below `test`. Returns the directory of the compiled tests. */
export async function buildTests(folders) {
  await setupAndContinue();
  const sources = folders.map((folder) => join('test', folder));
  const swc = join(root, 'node_modules', '.bin', 'swc');
  runOrExit(swc, [...sources, '-d', 'dist', '--config-file', '.swcrc', '-q']);
  return join(root, 'dist', 'test');
}
