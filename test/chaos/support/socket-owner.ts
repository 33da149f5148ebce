/** Finds the process that owns a local TCP socket, in the kernel's tables. */
import { readdir, readFile, readlink } from 'node:fs/promises';

/** Returns the inode of the socket from `localPort` to `remotePort`. */
export async function inodeOf(localPort: number, remotePort: number): Promise<string | undefined> {
  const hex = (port: number) => port.toString(16).toUpperCase().padStart(4, '0');
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (await readFile(table, 'utf8')).split('\n').slice(1)) {
      const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
      if (local?.endsWith(`:${hex(localPort)}`) && remote?.endsWith(`:${hex(remotePort)}`)) {
        return inode;
      }
    }
  }
  return undefined;
}

/** Returns whether the process has a file descriptor for the socket with this inode. */
export async function ownsSocket(pid: number, inode: string): Promise<boolean> {
  let descriptors: string[];
  try {
    descriptors = await readdir(`/proc/${pid}/fd`);
  } catch (error) {
    // The process has ended.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return false;
    throw error;
  }
  for (const descriptor of descriptors) {
    const target = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
    if (target === `socket:[${inode}]`) return true;
  }
  return false;
}
