/**
 * Extracts tar archives from a container, whose content is not trusted. Invariant: nothing is
 * written outside the directory, which is empty at first. Names that lead out of it are rejected,
 * and symbolic links are created last, so that no entry is written through one.
 */

import { createWriteStream } from 'node:fs';
import { chmod, link, mkdir, symlink, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorMessage } from '@orch/component';
import { extract, type Header } from 'tar-stream';
import { CliError } from '../command-line/errors.js';

/** Without the set-user-id, set-group-id and sticky bits. */
const permissionBits = 0o777;

/**
 * Extracts the bytes that are written to `archive` into the directory. `ended` rejects with
 * CliError.
 */
export function unpack(
  directory: string,
  warn: (text: string) => void,
): { archive: Writable; ended: Promise<void> } {
  const archive = new PassThrough();
  const ended = new Extraction(directory, warn).run(archive).catch((error: unknown) => {
    // The other side may still be sending, and ends only when the rest has been read.
    archive.resume();
    if (error instanceof CliError) throw error;
    throw new CliError(`cannot unpack: ${errorMessage(error)}`);
  });
  ended.catch(() => undefined); // reported to the caller that waits for it
  return { archive, ended };
}

class Extraction {
  private readonly directories: { readonly path: string; readonly header: Header }[] = [];
  private readonly hardLinks: { readonly path: string; readonly target: string }[] = [];
  /** By path: the text of each symbolic link. */
  private readonly symbolicLinks = new Map<string, string>();

  constructor(
    private readonly directory: string,
    private readonly warn: (text: string) => void,
  ) {}

  async run(archive: PassThrough): Promise<void> {
    const extraction = extract();
    archive.once('error', (error) => extraction.destroy(error));
    // A stream of `streamx`, which has the interface of Node's.
    archive.pipe(extraction as unknown as Writable);
    for await (const entry of extraction) {
      await this.add(entry.header, Readable.from(entry));
      entry.resume();
    }
    for (const { path, target } of this.hardLinks) await this.addHardLink(path, target);
    for (const [path, target] of this.symbolicLinks) await symlink(target, path);
    // Inner directories first: an outer one may be read-only.
    for (const { path, header } of this.directories.reverse()) {
      await chmod(path, header.mode & permissionBits & ~process.umask());
      await utimes(path, header.mtime, header.mtime);
    }
  }

  private async add(header: Header, content: Readable): Promise<void> {
    const { type, name, mode, mtime } = header;
    const path = this.pathOf(name);
    await mkdir(type === 'directory' ? path : dirname(path), { recursive: true });
    switch (type) {
      case 'directory':
        this.directories.push({ path, header });
        return;
      case 'file':
      case 'contiguous-file':
        await pipeline(content, createWriteStream(path, { mode: mode & permissionBits }));
        await utimes(path, mtime, mtime);
        return;
      case 'symlink':
        this.symbolicLinks.set(path, header.linkname);
        return;
      case 'link':
        this.hardLinks.push({ path, target: this.pathOf(header.linkname) });
        return;
      default:
        this.warn(`Warning: skipping ${name}: not a file, directory or link\n`);
    }
  }

  private async addHardLink(path: string, target: string): Promise<void> {
    const text = this.symbolicLinks.get(target);
    if (text === undefined) await link(target, path);
    else this.symbolicLinks.set(path, text);
  }

  /** Where an entry belongs. Throws CliError for a name that leads out of the directory. */
  private pathOf(name: string): string {
    const parts = name.split('/').filter((part) => part !== '' && part !== '.');
    if (name.startsWith('/') || parts.includes('..')) {
      throw new CliError(
        `the pod sent ${JSON.stringify(name)}, which is outside the copied directory`,
      );
    }
    return join(this.directory, ...parts);
  }
}
