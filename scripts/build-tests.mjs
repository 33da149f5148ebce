/**
 * Compiles suites that run outside of the test runner (`test/<folder>`) beside the built tree, and brings
 * that up to date first. For scripts that run such a suite.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..');

/** Runs it with this process's output; ends this process with its exit code if it fails. */
export function runOrExit(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Builds what is stale. `folders` are names below `test`. Returns the directory of the compiled tests. */
export function buildTests(folders) {
  runOrExit(process.execPath, [join(root, 'scripts', 'setup.mjs')]);
  const sources = folders.map((folder) => join('test', folder));
  const swc = join(root, 'node_modules', '.bin', 'swc');
  runOrExit(swc, [...sources, '-d', 'dist', '--config-file', '.swcrc', '-q']);
  for (const source of sources) copyScripts(source);
  return join(root, 'dist', 'test');
}

/** The compiler gives `.mjs` files another ending, by which nobody would find them. */
function copyScripts(source) {
  for (const entry of readdirSync(join(root, source), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.mjs')) continue;
    const path = join(entry.parentPath, entry.name);
    const target = join(root, 'dist', relative(root, path));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(path, target);
  }
}
