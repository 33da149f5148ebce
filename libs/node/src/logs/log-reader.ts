/**
 * Reads a container's log for people: the text, with or without times, from the end or from a time on,
 * and on as it grows. Follows through rotation. Only the current file is read, as rotated ones may go
 * at any moment.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { type Clock, sleep } from '@orch/component';
import { logChunkBytes, logPollPeriodMs } from '../limits.js';
import { parseLogRecord } from './log-record.js';

export interface LogQuery {
  readonly follow: boolean;
  readonly timestamps: boolean;
  /** Only that many lines from the end. */
  readonly tailLines?: number;
  /** Only what is not older. */
  readonly sinceMs?: number;
  readonly limitBytes?: number;
  /** Only what comes after so many bytes of the file. */
  readonly fromByte?: number;
  /** Only what was written to this one. */
  readonly stream?: 'stdout' | 'stderr';
}

export interface LogSource {
  readonly path: string;
  /** Whether more may come. */
  isRunning(): boolean;
  /** How often to look; `logPollPeriodMs` when left out. */
  readonly pollPeriodMs?: number;
}

const newline = 0x0a;

/** Ends at the end of the log; when following, once the container has ended; or on `signal`. */
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
  let file = await openIfThere(source.path);
  try {
    let offset = query.fromByte ?? 0;
    if (file && query.tailLines !== undefined) offset = await tailOffset(file, query.tailLines);
    let rest: Buffer = Buffer.alloc(0);
    while (!signal.aborted) {
      // Asked before reading: what is written until it has ended is then sure to be read.
      const mayGrow = query.follow && source.isRunning();
      const chunk = file ? await readChunk(file, offset) : Buffer.alloc(0);
      offset += chunk.length;
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
        yield rest.subarray(0, end);
        rest = rest.subarray(end + 1);
      }
      if (chunk.length > 0) continue;
      const next = file ? await rotated(file, source.path) : await openIfThere(source.path);
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

/** The file that has taken this one's place, if any. */
async function rotated(file: FileHandle, path: string): Promise<FileHandle | undefined> {
  const next = await openIfThere(path);
  if (!next) return undefined;
  const [current, fresh] = await Promise.all([file.stat(), next.stat()]);
  if (current.ino !== fresh.ino || current.dev !== fresh.dev) return next;
  await next.close();
  return undefined;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
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

/** Where the last `lineCount` lines begin. */
async function tailOffset(file: FileHandle, lineCount: number): Promise<number> {
  const { size } = await file.stat();
  if (lineCount <= 0) return size;
  let linesFound = 0;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - logChunkBytes);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    for (let index = bytesRead - 1; index >= 0; index -= 1) {
      // The newline that ends the file ends the last line, it does not begin another.
      if (buffer[index] !== newline || start + index === size - 1) continue;
      linesFound += 1;
      if (linesFound === lineCount) return start + index + 1;
    }
    end = start;
  }
  return 0;
}
