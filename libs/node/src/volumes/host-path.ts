/** Checks the path of a hostPath volume, and creates it for the types that require that. */
import { mkdirSync, type Stats, statSync, writeFileSync } from 'node:fs';
import type { HostPathType } from '@orch/types/core/v1';
import { BrokenReference } from '../environment/referenced-objects.js';

const tests: Partial<Record<HostPathType, [is: (stat: Stats) => boolean, name: string]>> = {
  Directory: [(stat) => stat.isDirectory(), 'directory'],
  DirectoryOrCreate: [(stat) => stat.isDirectory(), 'directory'],
  File: [(stat) => stat.isFile(), 'file'],
  FileOrCreate: [(stat) => stat.isFile(), 'file'],
  Socket: [(stat) => stat.isSocket(), 'socket file'],
  CharDevice: [(stat) => stat.isCharacterDevice(), 'character device'],
  BlockDevice: [(stat) => stat.isBlockDevice(), 'block device'],
};

/** Throws `BrokenReference` if the path does not have the type. */
export function prepareHostPath(path: string, type: HostPathType = ''): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (type === 'DirectoryOrCreate' && !stat) {
    mkdirSync(path, { recursive: true, mode: 0o755 });
  } else if (type === 'FileOrCreate' && !stat) {
    writeFileSync(path, '', { mode: 0o644, flag: 'a' });
  } else if (type === '') {
    // The empty type checks nothing; a missing path becomes a directory.
    if (!stat) mkdirSync(path, { recursive: true, mode: 0o755 });
  } else {
    const [is, name] = tests[type] ?? [];
    if (!is) throw new BrokenReference(`"${type}" is not a hostPath type`);
    if (!stat || !is(stat)) {
      throw new BrokenReference(`hostPath type check failed: ${path} is not a ${name}`);
    }
  }
}
