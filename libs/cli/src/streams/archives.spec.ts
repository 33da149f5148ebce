import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Header, pack as tarPack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliError } from '../command-line/errors.js';
import { pack } from './pack.js';
import { unpack } from './unpack.js';

let scratch: string;
let warnings: string[];
const warn = (text: string) => void warnings.push(text);

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'orchctl-archive-'));
  mkdirSync(join(scratch, 'out'));
  warnings = [];
});
afterEach(() => rmSync(scratch, { recursive: true }));

async function unpackInto(directory: string, source: Readable): Promise<void> {
  const { archive, ended } = unpack(directory, warn);
  await pipeline(source, archive);
  await ended;
}

/** An archive of the entries. The content of an entry is `size` zeros. */
function archiveOf(...entries: (Partial<Header> & Pick<Header, 'name'>)[]): Readable {
  const archive = tarPack();
  for (const entry of entries) {
    if (entry.size) archive.entry(entry, Buffer.alloc(entry.size));
    else archive.entry(entry);
  }
  archive.finalize();
  return Readable.from(archive);
}

describe('pack and unpack', () => {
  it('keep names, content, permissions, times and links', async () => {
    const tree = join(scratch, 'tree');
    const long = `${'directory/'.repeat(30)}ünïcode`;
    const content = Buffer.alloc(3_000_000, 'orch');
    mkdirSync(join(tree, long), { recursive: true });
    writeFileSync(join(tree, long, 'file'), content, { mode: 0o640 });
    writeFileSync(join(tree, 'empty'), '');
    mkdirSync(join(tree, 'read-only'));
    writeFileSync(join(tree, 'read-only', 'inner'), 'x');
    linkSync(join(tree, 'empty'), join(tree, 'again'));
    symlinkSync('/etc/hostname', join(tree, 'link'));
    utimesSync(join(tree, 'empty'), 1_000, 2_000);
    const { archive, ended } = pack(tree, 'copy', warn);
    await unpackInto(join(scratch, 'out'), archive);
    await ended;
    const copy = join(scratch, 'out', 'copy');
    const list = (path: string) => readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
    expect(list(copy)).toEqual(list(tree));
    expect(readFileSync(join(copy, long, 'file')).equals(content)).toBe(true);
    expect(statSync(join(copy, long, 'file')).mode & 0o777).toBe(0o640 & ~process.umask());
    expect(statSync(join(copy, 'empty')).mtimeMs).toBe(2_000_000);
    expect(readlinkSync(join(copy, 'link'))).toBe('/etc/hostname');
    expect(warnings).toEqual([]);
  });

  it('report a tree that cannot be read', async () => {
    const { archive, ended } = pack(join(scratch, 'missing'), 'copy', warn);
    archive.resume();
    await expect(ended).rejects.toThrow(CliError);
  });
});

describe('unpack', () => {
  const out = () => join(scratch, 'out');

  it.each(['../escaped', 'a/../../escaped', '/escaped'])('refuses the name %s', async (name) => {
    const source = archiveOf({ name, size: 3 }, { name: 'large', size: 2_000_000 });
    await expect(unpackInto(out(), source)).rejects.toThrow(/outside the copied directory/);
    expect(existsSync(join(scratch, 'escaped'))).toBe(false);
  });

  it('writes nothing through a symbolic link of the archive', async () => {
    const victim = join(scratch, 'victim');
    mkdirSync(victim);
    const link = { name: 'a/link', type: 'symlink', linkname: victim } as const;
    await expect(unpackInto(out(), archiveOf(link, { name: 'a/link/b', size: 3 }))).rejects.toThrow(
      CliError,
    );
    expect(readdirSync(victim)).toEqual([]);
  });

  it('makes no hard link through a symbolic link of the archive', async () => {
    writeFileSync(join(scratch, 'secret'), 'x');
    const link = { name: 'link', type: 'symlink', linkname: scratch } as const;
    const hardLink = { name: 'stolen', type: 'link', linkname: 'link/secret' } as const;
    await expect(unpackInto(out(), archiveOf(link, hardLink))).rejects.toThrow(CliError);
    expect(existsSync(join(out(), 'stolen'))).toBe(false);
  });

  it('extracts hard links to files and to symbolic links', async () => {
    const entries = [
      { name: 'file', size: 3 },
      { name: 'same', type: 'link', linkname: 'file' },
      { name: 'link', type: 'symlink', linkname: 'file' },
      { name: 'same-link', type: 'link', linkname: 'link' },
    ] as const;
    await unpackInto(out(), archiveOf(...entries));
    expect(statSync(join(out(), 'same')).ino).toBe(statSync(join(out(), 'file')).ino);
    expect(readlinkSync(join(out(), 'same-link'))).toBe('file');
  });

  it('removes the set-user-id bit and skips devices', async () => {
    await unpackInto(
      out(),
      archiveOf(
        { name: 'program', size: 3, mode: 0o4755 },
        { name: 'null', type: 'character-device', devmajor: 1, devminor: 3 },
      ),
    );
    expect(lstatSync(join(out(), 'program')).mode & 0o7000).toBe(0);
    expect(readdirSync(out())).toEqual(['program']);
    expect(warnings).toEqual([expect.stringContaining('skipping null')]);
  });

  it('reports bytes that are no archive, and one that ends early', async () => {
    const noise = Readable.from([Buffer.alloc(4_096, 'x')]);
    await expect(unpackInto(out(), noise)).rejects.toThrow(/cannot unpack: Invalid tar header/);
    const whole = Buffer.concat(await archiveOf({ name: 'file', size: 5_000 }).toArray());
    const half = Readable.from([whole.subarray(0, 2_000)]);
    await expect(unpackInto(out(), half)).rejects.toThrow(/cannot unpack: Unexpected end/);
  });
});
