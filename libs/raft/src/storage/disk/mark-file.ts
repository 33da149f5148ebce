/**
 * A small file that is overwritten in place, without sync, after every synced write of a database:
 * its content was durable there. Layout: CRC32C over the rest, length, bytes; the bytes after it
 * are left from longer content. A torn or flipped mark counts as absent.
 */
import { writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32c } from '../../core/log/crc32c.js';
import { LogError } from '../../replicated-log.js';
import type { Mark } from './disk.js';

const headerBytes = 8;
/** About one sector: larger content tears more easily, and a mark needs no more. */
export const markBytesMax = 1024;

export async function openMarkFile(path: string): Promise<Mark> {
  const handle = await openExistingOrNew(path);
  const buffer = Buffer.alloc(headerBytes + markBytesMax);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
  return new MarkFile(handle, decode(buffer.subarray(0, bytesRead)));
}

class MarkFile implements Mark {
  constructor(
    private readonly handle: FileHandle,
    readonly initial: Buffer | undefined,
  ) {}

  /** Synchronous: a few hundred bytes into the page cache cost less than a thread switch. */
  async write(bytes: Buffer): Promise<void> {
    const whole = encode(bytes);
    const writtenBytes = writeSync(this.handle.fd, whole, 0, whole.length, 0);
    if (writtenBytes !== whole.length) throw new Error('the disk took only a part of the mark');
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

function encode(bytes: Buffer): Buffer {
  if (bytes.length > markBytesMax) throw new LogError('TooLarge', 'a mark holds at most 1 KiB');
  const whole = Buffer.allocUnsafe(headerBytes + bytes.length);
  whole.writeUInt32BE(bytes.length, 4);
  bytes.copy(whole, headerBytes);
  whole.writeUInt32BE(crc32c(whole, 0, 4), 0);
  return whole;
}

function decode(content: Buffer): Buffer | undefined {
  if (content.length < headerBytes) return undefined;
  const end = headerBytes + content.readUInt32BE(4);
  if (end > content.length || crc32c(content, 0, 4, end) !== content.readUInt32BE(0)) {
    return undefined;
  }
  return content.subarray(headerBytes, end);
}

async function openExistingOrNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    return open(path, 'wx+', 0o600);
  }
}
