/**
 * Replaces or removes whole directories. No file system call exchanges two directories, so the old
 * one is renamed first: a crash in between leaves it as `<name>.replaced` and nothing under its own
 * name, and the next opening restores it. A directory that is being removed is `<name>.removed`.
 */
import { lstat, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { syncPath } from './sync-path.js';

/**
 * Undoes what a crash left half done. To be called before anything else is done with `directory`.
 */
export async function recoverDirectory(directory: string): Promise<void> {
  const { replaced, removed } = besides(directory);
  if (await isThere(replaced)) {
    if (await isThere(directory)) await remove(replaced);
    else await move(replaced, directory);
  }
  await remove(removed);
}

/** `from` takes the place of `to`. A crash leaves one of the two whole under `to`. */
export async function replaceDirectory(from: string, to: string): Promise<void> {
  await recoverDirectory(to);
  await syncTree(from);
  const { replaced } = besides(to);
  if (await isThere(to)) await move(to, replaced);
  await move(from, to);
  await remove(replaced);
}

export async function removeDirectory(directory: string): Promise<void> {
  await recoverDirectory(directory);
  const { removed } = besides(directory);
  if (await isThere(directory)) await move(directory, removed);
  await remove(removed);
}

/** Bytes of all files below; what vanishes meanwhile counts for nothing. */
export async function directoryBytes(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    bytes += await fileBytes(join(entry.parentPath, entry.name));
  }
  return bytes;
}

export async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}

function besides(directory: string): { readonly replaced: string; readonly removed: string } {
  const path = resolve(directory);
  return { replaced: `${path}.replaced`, removed: `${path}.removed` };
}

async function move(from: string, to: string): Promise<void> {
  await rename(from, to);
  const parents = new Set([dirname(resolve(from)), dirname(resolve(to))]);
  for (const parent of parents) await syncPath(parent);
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

async function syncTree(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    await syncPath(join(entry.parentPath, entry.name));
  }
  await syncPath(directory);
}

async function fileBytes(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isAbsence(error)) return 0;
    throw error;
  }
}

function isAbsence(error: unknown): boolean {
  return (error as { code?: string }).code === 'ENOENT';
}
