/**
 * Long responses: many pieces of memory are copied into one block and written together; a block is
 * written when the socket has accepted the previous one. The cost is one copy, and one block of
 * memory per client.
 */
import { once } from 'node:events';
import type { RequestContext } from '../http/request-context.js';
import {
  abort,
  compresses,
  compressorFor,
  headersFor,
  isClosed,
  writeHead,
} from '../http/respond.js';
import { gatherBlockBytes, gatherBlocksIdleMax } from '../limits.js';
import { type CompressedRest, compressRest, gzipParts } from './gzip-parts.js';

/**
 * Pieces in order: `head`, then for each item its head and its bytes from `itemFrom`, then `tail`.
 */
export interface Gathered {
  readonly head: Buffer;
  readonly itemCount: number;
  /** Bytes `writeItemHead` needs at most. */
  readonly itemHeadBytesMax: number;
  /** Writes what comes before item `index` and returns the offset after it. */
  writeItemHead(index: number, block: Buffer, at: number): number;
  item(index: number): Buffer;
  readonly itemFrom: number;
  readonly tail: Buffer;
  readonly totalBytes: number;
  /** Whether everything after the head depends only on the objects and their representation. */
  readonly isTimeless?: boolean;
}

/** Looks up or compresses what follows the head of a list. Undefined: it is too large. */
export type CompressRest = (gathered: Gathered) => Promise<CompressedRest> | undefined;

const idleBlocks: Buffer[] = [];

function takeBlock(): Buffer {
  return idleBlocks.pop() ?? Buffer.allocUnsafeSlow(gatherBlockBytes);
}

function giveBlock(block: Buffer): void {
  if (idleBlocks.length < gatherBlocksIdleMax) idleBlocks.push(block);
}

/** All of it in one buffer. */
export function gatherWhole(gathered: Gathered): Buffer {
  const body = Buffer.allocUnsafe(gathered.totalBytes);
  let at = gathered.head.copy(body, 0);
  for (let index = 0; index < gathered.itemCount; index += 1) {
    at = gathered.writeItemHead(index, body, at);
    at += gathered.item(index).copy(body, at, gathered.itemFrom);
  }
  gathered.tail.copy(body, at);
  return body;
}

type WriteBlock = (block: Buffer) => Promise<void>;

/** Fills `block` repeatedly and writes it; each write must be accepted before the next. */
async function writeBlocks(gathered: Gathered, block: Buffer, write: WriteBlock): Promise<void> {
  const at = gathered.head.copy(block, 0);
  await writeRest(gathered, block, at, write);
}

/** Writes the items and the tail in blocks. The first `from` bytes of `block` are in use. */
async function writeRest(
  gathered: Gathered,
  block: Buffer,
  from: number,
  write: WriteBlock,
): Promise<void> {
  let at = from;
  for (let index = 0; index < gathered.itemCount; index += 1) {
    if (at + gathered.itemHeadBytesMax > block.length) {
      await write(block.subarray(0, at));
      at = 0;
    }
    at = gathered.writeItemHead(index, block, at);
    const item = gathered.item(index);
    let copiedTo = gathered.itemFrom;
    while (copiedTo < item.length) {
      if (at === block.length) {
        await write(block);
        at = 0;
      }
      const copied = item.copy(block, at, copiedTo);
      at += copied;
      copiedTo += copied;
    }
  }
  if (at + gathered.tail.length > block.length) {
    await write(block.subarray(0, at));
    at = 0;
  }
  at += gathered.tail.copy(block, at);
  await write(block.subarray(0, at));
}

/**
 * Sends it. Resolves when the socket has accepted everything, or when the client has disconnected
 * or has read nothing until `timeoutMs`; the connection is then closed, because the response cannot
 * be finished.
 */
export async function sendGathered(
  context: RequestContext,
  contentType: string,
  gathered: Gathered,
  timeoutMs: number,
  restOf?: CompressRest,
): Promise<void> {
  const { response, audit } = context;
  if (audit?.recordsResponse) audit.responded(gatherWhole(gathered), contentType);
  const compressed = compresses(context, gathered.totalBytes);
  const rest = compressed ? restOf?.(gathered) : undefined;
  if (rest) {
    return withinTime(context, timeoutMs, async () => {
      await sendCompressedParts(context, contentType, gzipParts(gathered.head, await rest));
    });
  }
  const headers = headersFor(context, contentType);
  if (compressed) {
    headers['content-encoding'] = 'gzip';
    headers.vary = 'Accept-Encoding';
  } else headers['content-length'] = gathered.totalBytes;
  writeHead(context, 200, headers);
  if (!compressed && gathered.totalBytes <= gatherBlockBytes) {
    context.bodyBytes = gathered.totalBytes;
    response.end(gatherWhole(gathered));
    return;
  }
  await withinTime(context, timeoutMs, async () => {
    // If it fails, the block is not used again: a write may still hold it.
    const block = takeBlock();
    if (compressed) await sendCompressed(context, gathered, block);
    else {
      await writeBlocks(gathered, block, (filled) => written(context, filled));
      response.end();
    }
    giveBlock(block);
  });
}

/** Closes the connection if `send` takes longer. A client that has disconnected is no error. */
async function withinTime(
  context: RequestContext,
  timeoutMs: number,
  send: () => Promise<void>,
): Promise<void> {
  const timer = setTimeout(() => abort(context), timeoutMs);
  try {
    await send();
  } catch (error) {
    if (!isClosed(context.response)) throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Compresses everything after the head, whatever the speed of any client. */
export async function compressAfterHead(gathered: Gathered): Promise<CompressedRest> {
  const block = takeBlock();
  const rest = await compressRest((write) => writeRest(gathered, block, 0, write));
  giveBlock(block);
  return rest;
}

async function sendCompressedParts(
  context: RequestContext,
  contentType: string,
  parts: readonly Buffer[],
): Promise<void> {
  const headers = headersFor(context, contentType);
  headers['content-encoding'] = 'gzip';
  headers.vary = 'Accept-Encoding';
  headers['content-length'] = parts.reduce((sum, { length }) => sum + length, 0);
  writeHead(context, 200, headers);
  for (const part of parts) {
    for (let from = 0; from < part.length; from += gatherBlockBytes) {
      await written(context, part.subarray(from, from + gatherBlockBytes));
    }
  }
  context.response.end();
}

/** Resolves when the socket has released the memory. Rejects when the client has disconnected. */
function written(context: RequestContext, filled: Buffer): Promise<void> {
  const { response } = context;
  context.bodyBytes += filled.length;
  return new Promise((resolve, reject) => {
    const onClose = () => reject(new Error('the client has disconnected'));
    response.once('close', onClose);
    const done = (error?: Error | null) => {
      response.removeListener('close', onClose);
      if (error) reject(error);
      else resolve();
    };
    const write: (chunk: Buffer, callback: typeof done) => boolean = response.write.bind(response);
    write(filled, done);
  });
}

async function sendCompressed(
  context: RequestContext,
  gathered: Gathered,
  block: Buffer,
): Promise<void> {
  const gzip = compressorFor(context);
  const closed = new AbortController();
  context.response.once('close', () => closed.abort());
  await writeBlocks(gathered, block, async (filled) => {
    // The compressor works on another thread, so it gets its own memory.
    if (!gzip.write(Buffer.from(filled))) await once(gzip, 'drain', { signal: closed.signal });
  });
  gzip.end();
}
