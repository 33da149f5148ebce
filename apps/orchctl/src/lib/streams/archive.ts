/**
 * Archives for copying, made and taken apart by the system's `tar`. What comes out of a container is not
 * trusted: it is unpacked into an empty directory of its own, and only what was asked for is moved.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { CliError } from '../errors.js';

const errorBytesMax = 4 * 1024;

/** Rejects with what `tar` said when it fails. */
function ended(child: ChildProcess): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk) => {
    if (said.length < errorBytesMax) said += chunk;
  });
  const result = new Promise<void>((resolve, reject) => {
    child.once('error', (error) => reject(new CliError(`tar cannot be run: ${error.message}`)));
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new CliError(`tar: ${said.trim() || `ended with ${code}`}`));
    });
  });
  result.catch(() => undefined); // told to whoever waits for it
  return result;
}

/** The right-hand side of `tar`'s renaming takes these for itself. */
function literal(name: string): string {
  return name.replaceAll(/[\\&,]/g, '\\$&');
}

/** An archive of the file or directory, as `name`. */
export function pack(path: string, name: string): { archive: Readable; ended: Promise<void> } {
  const base = basename(path);
  const pattern = base.replaceAll(/[\\.*[\]^$,]/g, '\\$&');
  const rename = `--transform=flags=rhS;s,^\\(\\./\\)\\?${pattern},${literal(name)},`;
  const args = ['-c', '-f', '-', '-C', dirname(path), rename, '--', `./${base}`];
  const child = spawn('tar', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  // Read from the start: what a child has written is thrown away when it ends and nobody reads.
  const archive = child.stdout!.pipe(new PassThrough());
  return { archive, ended: ended(child) };
}

/** Takes an archive apart in the directory. */
export function unpack(directory: string): { archive: Writable; ended: Promise<void> } {
  const args = ['-x', '-f', '-', '-C', directory, '--no-same-owner'];
  const child = spawn('tar', args, { stdio: ['pipe', 'ignore', 'pipe'] });
  const archive = child.stdin!;
  archive.on('error', () => undefined); // `tar` has ended, and says why
  return { archive, ended: ended(child) };
}
