/** Reads the file tree of the host for the mount plan. */
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { errorCode } from '@orch/component';
import type { EntryType, HostTree } from './mount-plan.js';

export const hostTree: HostTree = {
  topLevelNames: () => readdirSync('/'),
  entryType(path: string): EntryType {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return 'missing';
    if (stat.isSymbolicLink()) return 'link';
    return stat.isDirectory() ? 'directory' : 'file';
  },
  realPath(path: string): string | undefined {
    try {
      return realpathSync(path);
    } catch (error) {
      const code = errorCode(error);
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
      throw error;
    }
  },
  linkTarget: (path: string) => readlinkSync(path),
};
