/**
 * Tar archives that depend on their content only: entries in the order of their paths, no times, no names of users.
 * Paths and links that the old header has no room for get a PAX header before their own.
 */
import { createReadStream } from 'node:fs';

const blockBytes = 512;
const typeFlags = { file: '0', link: '2', directory: '5' };
/** What an 11 digit octal field can say. */
const sizeMax = 8 ** 11 - 1;

/**
 * One entry: `path` without a leading slash, `type` file, link or directory, `mode` for files and directories;
 * files have `content` (Buffer) or `source` (path) with `size`, links `target`.
 */

/** The archive of the entries, in chunks. Parent directories that nobody named are made. */
export async function* tar(entries, { uid = 0, gid = 0 } = {}) {
  const all = withDirectories(entries).sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const entry of all) {
    const size = entry.content?.length ?? entry.size ?? 0;
    if (size > sizeMax) throw new Error(`${entry.path} is too large for a tar archive`);
    yield* header(entry, size, { uid: entry.uid ?? uid, gid: entry.gid ?? gid });
    if (entry.content) yield entry.content;
    else if (entry.source) yield* sourceOf(entry, size);
    if (size % blockBytes !== 0) yield Buffer.alloc(blockBytes - (size % blockBytes));
  }
  yield Buffer.alloc(2 * blockBytes);
}

function withDirectories(entries) {
  const byPath = new Map();
  for (const entry of entries) {
    const parts = entry.path.split('/');
    for (let count = 1; count < parts.length; count++) {
      const path = parts.slice(0, count).join('/');
      if (!byPath.has(path)) byPath.set(path, { path, type: 'directory', mode: 0o755 });
    }
    byPath.set(entry.path, entry);
  }
  return [...byPath.values()];
}

async function* sourceOf({ path, source }, size) {
  let sent = 0;
  for await (const chunk of createReadStream(source)) {
    sent += chunk.length;
    yield chunk;
  }
  if (sent !== size) throw new Error(`${path}: ${source} changed while it was read`);
}

function* header({ path, type, mode = 0o777, target = '' }, size, owner) {
  const name = type === 'directory' ? `${path}/` : path;
  const records = [];
  if (Buffer.byteLength(name) > 100) records.push(paxRecord('path', name));
  if (Buffer.byteLength(target) > 100) records.push(paxRecord('linkpath', target));
  if (records.length > 0) {
    const body = Buffer.from(records.join(''));
    yield block({
      name: 'PaxHeader',
      flag: 'x',
      mode: 0o644,
      size: body.length,
      owner,
      target: '',
    });
    yield body;
    yield Buffer.alloc((blockBytes - (body.length % blockBytes)) % blockBytes);
  }
  yield block({ name, flag: typeFlags[type], mode, size, owner, target });
}

/** `length key=value\n`, where the length counts itself. */
function paxRecord(key, value) {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest;
  while (String(length).length + rest !== length) length = String(length).length + rest;
  return `${length} ${key}=${value}\n`;
}

function block({ name, flag, mode, size, owner, target }) {
  const bytes = Buffer.alloc(blockBytes);
  const octal = (value, at, width) =>
    bytes.write(`${value.toString(8).padStart(width - 1, '0')}\0`, at, 'latin1');
  Buffer.from(name).copy(bytes, 0, 0, 100);
  octal(mode, 100, 8);
  octal(owner.uid, 108, 8);
  octal(owner.gid, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  bytes.write('        ', 148, 'latin1');
  bytes.write(flag, 156, 'latin1');
  Buffer.from(target).copy(bytes, 157, 0, 100);
  bytes.write('ustar\x0000', 257, 'latin1');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
}
