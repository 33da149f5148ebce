/** Tar archives of local files and directories, for `cp` into a container. */
import { createReadStream, type Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pack as createPack, type Header, type Pack } from 'tar-stream';
import { CliError } from '../command-line/errors.js';

const permissionBits = 0o7777;

type EntryHeader = Partial<Header> & Pick<Header, 'name'>;

/**
 * The archive of the file or directory at `path`, under the name `name`. Symbolic links are
 * archived as links. Reports sockets, pipes and devices to `warn` and skips them. `ended` rejects
 * with CliError when the tree cannot be read; the archive then ends early.
 */
export function pack(
  path: string,
  name: string,
  warn: (text: string) => void,
): { archive: Readable; ended: Promise<void> } {
  const entries = createPack();
  const archive = new PassThrough();
  addTree(entries, path, name, warn).then(
    () => entries.finalize(),
    (error: Error) => entries.destroy(error),
  );
  const ended = pipeline(Readable.from(entries), archive, { end: false }).then(
    () => void archive.end(),
    (error: Error) => {
      archive.end();
      throw new CliError(`cannot pack: ${error.message}`);
    },
  );
  ended.catch(() => undefined); // reported to the caller that waits for it
  return { archive, ended };
}

async function addTree(
  archive: Pack,
  path: string,
  name: string,
  warn: (text: string) => void,
): Promise<void> {
  const stats = await lstat(path);
  const header = headerOf(name, stats);
  if (stats.isDirectory()) {
    await addEntry(archive, { ...header, name: `${name}/`, type: 'directory' });
    for (const member of (await readdir(path)).sort()) {
      await addTree(archive, join(path, member), `${name}/${member}`, warn);
    }
  } else if (stats.isSymbolicLink()) {
    await addEntry(archive, { ...header, type: 'symlink', linkname: await readlink(path) });
  } else if (stats.isFile()) {
    await addFile(archive, { ...header, type: 'file', size: stats.size }, path, stats.size);
  } else warn(`Warning: skipping ${path}: not a file, directory or symbolic link\n`);
}

function headerOf(name: string, { mode, mtime, uid, gid }: Stats): EntryHeader {
  return { name, mode: mode & permissionBits, mtime, uid, gid };
}

function addEntry(archive: Pack, header: EntryHeader): Promise<void> {
  return new Promise((resolve, reject) => {
    archive.entry(header, (error) => (error ? reject(error) : resolve()));
  });
}

/** Rejects when the file does not have `byteCount` bytes any more. */
function addFile(
  archive: Pack,
  header: EntryHeader,
  path: string,
  byteCount: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const sink = archive.entry(header, (error) => (error ? reject(error) : resolve()));
    sink.on('error', () => undefined); // also reported to the callback of the entry
    const write = async () => {
      let sentBytes = 0;
      for await (const chunk of createReadStream(path)) {
        sentBytes += chunk.length;
        if (sentBytes > byteCount) break;
        if (!sink.write(chunk))
          await new Promise<void>((resume) => sink.once('drain', () => resume()));
      }
      if (sentBytes !== byteCount) throw new Error(`${path} changed while it was read`);
      sink.end(null);
    };
    write().catch(reject);
  });
}
