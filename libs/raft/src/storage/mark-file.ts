/**
 * A small file that is overwritten in place, without sync, after every synced write of a database:
 * what it says was durable. Layout: CRC32C over the rest, length, bytes; what follows is left over from
 * a longer content. Torn or flipped, it is as good as absent.
 */
import { writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32c } from '../crc32c.js';
import { LogError } from '../replicated-log.js';
import type { Mark } from './disk.js';

const HEADER_BYTES = 8;
/** One sector or so: what is larger tears more easily, and says more than a mark should. */
export const MARK_BYTES_MAX = 1024;

export async function openMarkFile(path: string): Promise<Mark> {
  const handle = await openExistingOrNew(path);
  const buffer = Buffer.alloc(HEADER_BYTES + MARK_BYTES_MAX);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
  return new MarkFile(handle, decode(buffer.subarray(0, bytesRead)));
}

class MarkFile implements Mark {
  constructor(
    private readonly handle: FileHandle,
    readonly initial: Buffer | undefined,
  ) {}

  /** At once: some hundred bytes into the page cache cost less than the way to another thread and back. */
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
  if (bytes.length > MARK_BYTES_MAX) throw new LogError('TooLarge', 'a mark holds at most 1 KiB');
  const whole = Buffer.allocUnsafe(HEADER_BYTES + bytes.length);
  whole.writeUInt32BE(bytes.length, 4);
  bytes.copy(whole, HEADER_BYTES);
  whole.writeUInt32BE(crc32c(whole, 0, 4), 0);
  return whole;
}

function decode(content: Buffer): Buffer | undefined {
  if (content.length < HEADER_BYTES) return undefined;
  const end = HEADER_BYTES + content.readUInt32BE(4);
  if (end > content.length || crc32c(content, 0, 4, end) !== content.readUInt32BE(0)) {
    return undefined;
  }
  return content.subarray(HEADER_BYTES, end);
}

async function openExistingOrNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOENT') throw error;
    return open(path, 'wx+', 0o600);
  }
}
