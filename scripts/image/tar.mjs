/**
 * Reproducible tar archives: entries sorted by path, no times, no user names. Equal entries give
 * equal bytes.
 */
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pack } from 'tar-stream';

/**
 * One entry: `path` without a leading slash, `type` file or directory, `mode`. A file has `content`
 * (Buffer), or `source` (path) and `size`.
 */

/** The archive of the entries as a stream. Adds the parent directories that no entry names. */
export function tar(entries, { uid = 0, gid = 0 } = {}) {
  const archive = pack();
  addEntries(archive, withDirectories(entries), { uid, gid }).then(
    () => archive.finalize(),
    (error) => archive.destroy(error),
  );
  return Readable.from(archive);
}

async function addEntries(archive, entries, owner) {
  for (const entry of entries.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    await addEntry(archive, entry, owner);
  }
}

function addEntry(archive, { path, type, mode, ...body }, owner) {
  const header = {
    name: type === 'directory' ? `${path}/` : path,
    type,
    mode,
    ...owner,
    mtime: new Date(0),
    size: body.content?.length ?? body.size ?? 0,
  };
  return new Promise((resolve, reject) => {
    const added = (error) => (error ? reject(error) : resolve());
    if (body.content) archive.entry(header, body.content, added);
    else if (!body.source) archive.entry(header, added);
    else send(body.source, archive.entry(header, added), header.size).catch(reject);
  });
}

/** Writes a file into the sink. Rejects unless the file has `size` bytes. */
async function send(source, sink, size) {
  let byteCount = 0;
  sink.on('error', () => undefined); // also reported to the callback of the entry
  for await (const chunk of createReadStream(source)) {
    byteCount += chunk.length;
    if (byteCount <= size && !sink.write(chunk)) {
      await new Promise((resolve) => sink.once('drain', resolve));
    }
  }
  if (byteCount !== size) throw new Error(`${source} changed while it was read`);
  sink.end();
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
