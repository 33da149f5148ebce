/**
 * A directory whose files change atomically: the files are in a data directory, `..data` is a link
 * to it, and each name is a link through `..data`. An update replaces that one link, so readers see
 * the old or the new set. If nothing has changed, nothing is written.
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
  /** User id; by default that of the agent. */
  readonly owner?: number;
}

const dataLink = '..data';

/** Replaces the files below `directory`, by relative path. Returns whether anything changed. */
export function writeAtomicDirectory(
  directory: string,
  files: ReadonlyMap<string, VolumeFile>,
): boolean {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const link = join(directory, dataLink);
  const current = lstatSync(link, { throwIfNoEntry: false }) ? readlinkSync(link) : undefined;
  if (current !== undefined && isSame(join(directory, current), files)) return false;
  const dataDirectory = `..${randomUUID()}`;
  mkdirSync(join(directory, dataDirectory), { mode: 0o755 });
  for (const [path, { content, mode, owner }] of files) {
    const target = join(directory, dataDirectory, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    writeFileSync(target, content, { mode: mode & 0o700 });
    chmodSync(target, mode);
    if (owner !== undefined) chownSync(target, owner, statSync(target).gid);
  }
  symlinkSync(dataDirectory, `${link}_new`);
  renameSync(`${link}_new`, link);
  linkNames(directory, new Set([...files.keys()].map((path) => path.split('/')[0]!)));
  if (current !== undefined) rmSync(join(directory, current), { recursive: true, force: true });
  return true;
}

/** Creates a link for each top-level name and removes the links of other names. */
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
