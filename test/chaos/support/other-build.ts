/** The built API server with changes to its text, in a directory of its own. */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { apiServerMain, repositoryRoot } from './repository.js';

/** A pattern that must match once, and its replacement. */
export type Edit = readonly [pattern: RegExp, by: string];

export interface Edits {
  readonly server?: readonly Edit[];
  /** Edits of the replica's thread, which runs another file. */
  readonly thread?: readonly Edit[];
}

/** Returns its main file. Throws if an edit does not match the built program once. */
export function makeBuild(directory: string, { server = [], thread = [] }: Edits): string {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  symlinkSync(join(repositoryRoot, 'node_modules'), join(directory, 'node_modules'));
  const main = join(directory, 'main.mjs');
  writeFileSync(main, server.reduce(replaceOnce, readFileSync(apiServerMain, 'utf8')));
  const threadFile = 'raft-worker.mjs';
  const built = readFileSync(join(dirname(apiServerMain), threadFile), 'utf8');
  writeFileSync(join(directory, threadFile), thread.reduce(replaceOnce, built));
  return main;
}

function replaceOnce(text: string, [pattern, by]: Edit): string {
  const count = text.match(new RegExp(pattern, 'g'))?.length ?? 0;
  if (count !== 1) throw new Error(`${pattern} is in the built program ${count} times, not once`);
  return text.replace(pattern, by);
}
