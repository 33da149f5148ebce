/**
 * A directory whose files change all at once: they live in a directory of their own, `..data` is a link
 * to it, and each name a link through `..data`. Replacing that one link is the update; readers see the
 * old set or the new one. Files that are the same are left alone.
 */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export interface VolumeFile {
  readonly content: Buffer;
  /** Permission bits. */
  readonly mode: number;
  /** User id; the agent's own when left out. */
  readonly owner?: number;
}

const dataLink = '..data';

/** `files` by path below `directory`. Whether anything had to be written. */
export function writeAtomicDirectory(
  directory: string,
  files: ReadonlyMap<string, VolumeFile>,
): boolean {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const link = join(directory, dataLink);
  const current = lstatSync(link, { throwIfNoEntry: false }) ? readlinkSync(link) : undefined;
  if (current !== undefined && isSame(join(directory, current), files)) return false;
  const fresh = `..${randomUUID()}`;
  mkdirSync(join(directory, fresh), { mode: 0o755 });
  for (const [path, { content, mode, owner }] of files) {
    const target = join(directory, fresh, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    writeFileSync(target, content, { mode: mode & 0o700 });
    chmodSync(target, mode);
    if (owner !== undefined) chownSync(target, owner, statSync(target).gid);
  }
  symlinkSync(fresh, `${link}_new`);
  renameSync(`${link}_new`, link);
  linkNames(directory, new Set([...files.keys()].map((path) => path.split('/')[0]!)));
  if (current !== undefined) rmSync(join(directory, current), { recursive: true, force: true });
  return true;
}

/** One link a name at the top; those of names that are gone are removed. */
function linkNames(directory: string, names: ReadonlySet<string>): void {
  for (const name of readdirSync(directory)) {
    if (!name.startsWith('..') && !names.has(name)) rmSync(join(directory, name));
  }
  for (const name of names) {
    if (lstatSync(join(directory, name), { throwIfNoEntry: false })) continue;
    symlinkSync(join(dataLink, name), join(directory, name));
  }
}

function isSame(directory: string, files: ReadonlyMap<string, VolumeFile>): boolean {
  if (!existsSync(directory)) return false;
  const present = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  if (present.length !== files.size) return false;
  for (const [path, { content, mode, owner }] of files) {
    const target = join(directory, path);
    const stat = statSync(target, { throwIfNoEntry: false });
    if (!stat?.isFile() || (stat.mode & 0o7777) !== mode || stat.size !== content.length) {
      return false;
    }
    if (owner !== undefined && stat.uid !== owner) return false;
    if (!readFileSync(target).equals(content)) return false;
  }
  return true;
}
