/**
 * Reads a container log: the text with or without timestamps, from an offset, a number of lines or
 * a time, and optionally follows it, also across rotation. Reads only the current file, because
 * rotated files may be deleted at any time.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { type Clock, errorCode, sleep } from '@orch/component';
import { logChunkBytes, logPollPeriodMs } from '../limits.js';
import { parseLogRecord } from './log-record.js';

export interface LogQuery {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Returns only this number of lines at the end. */
  readonly tailLines?: number;
  /** Returns only records since this time. */
  readonly sinceMs?: number;
  readonly limitBytes?: number;
  /** Skips this number of bytes of the file. */
  readonly fromByte?: number;
  /** Returns only records of this stream. */
  readonly stream?: 'stdout' | 'stderr';
}

export interface LogSource {
  readonly path: string;
  /** Whether the log may grow. */
  isRunning(): boolean;
  /** `logPollPeriodMs` by default. */
  readonly pollPeriodMs?: number;
}

const newline = 0x0a;

/**
 * Yields the text of the log. Ends at its end; when following, after the container has ended; or on
 * `signal`.
 */
export async function* readLog(
  source: LogSource,
  query: LogQuery,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let bytesLeft = query.limitBytes ?? Number.POSITIVE_INFINITY;
  for await (const line of rawLines(source, query, clock, signal)) {
    const record = parseLogRecord(line);
    if (!record) continue;
    if (query.stream !== undefined && record.stream !== query.stream) continue;
    if (query.sinceMs !== undefined && Date.parse(record.time) < query.sinceMs) continue;
    const parts = query.timestamps ? [Buffer.from(`${record.time} `), record.text] : [record.text];
    if (!record.partial) parts.push(Buffer.from('\n'));
    const text = Buffer.concat(parts);
    if (text.length >= bytesLeft) {
      yield text.subarray(0, bytesLeft);
      return;
    }
    bytesLeft -= text.length;
    yield text;
  }
}

async function* rawLines(
  source: LogSource,
  query: LogQuery,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  let file = await openIfExists(source.path);
  try {
    let offset = query.fromByte ?? 0;
    if (file && query.tailLines !== undefined) offset = await tailOffset(file, query.tailLines);
    let rest: Buffer = Buffer.alloc(0);
    while (!signal.aborted) {
      // Checked before the read, so that everything written before the container's end is read.
      const mayGrow = query.follow && source.isRunning();
      const chunk = file ? await readChunk(file, offset) : Buffer.alloc(0);
      offset += chunk.length;
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
        yield rest.subarray(0, end);
        rest = rest.subarray(end + 1);
      }
      if (chunk.length > 0) continue;
      const next = file ? await openIfRotated(file, source.path) : await openIfExists(source.path);
      if (next) {
        await file?.close();
        file = next;
        offset = 0;
        rest = Buffer.alloc(0);
        continue;
      }
      if (!mayGrow) return;
      await pause(source.pollPeriodMs ?? logPollPeriodMs, clock, signal);
    }
  } finally {
    await file?.close();
  }
}

async function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, signal, clock);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Opens the file at `path` if it is not `file`. */
async function openIfRotated(file: FileHandle, path: string): Promise<FileHandle | undefined> {
  const next = await openIfExists(path);
  if (!next) return undefined;
  const [current, fresh] = await Promise.all([file.stat(), next.stat()]);
  if (current.ino !== fresh.ino || current.dev !== fresh.dev) return next;
  await next.close();
  return undefined;
}

async function openIfExists(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readChunk(file: FileHandle, offset: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(
    Buffer.allocUnsafe(logChunkBytes),
    0,
    logChunkBytes,
    offset,
  );
  return buffer.subarray(0, bytesRead);
}

/** Returns the offset of the last `lineCount` lines. */
async function tailOffset(file: FileHandle, lineCount: number): Promise<number> {
  const { size } = await file.stat();
  if (lineCount <= 0) return size;
  let linesFound = 0;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - logChunkBytes);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    for (let index = bytesRead - 1; index >= 0; index -= 1) {
      // The newline at the end of the file belongs to the last line.
      if (buffer[index] !== newline || start + index === size - 1) continue;
      linesFound += 1;
      if (linesFound === lineCount) return start + index + 1;
    }
    end = start;
  }
  return 0;
}
