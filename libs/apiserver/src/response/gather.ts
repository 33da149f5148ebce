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
}

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
  let at = gathered.head.copy(block, 0);
  for (let index = 0; index < gathered.itemCount; index += 1) {
    if (at + gathered.itemHeadBytesMax > block.length) {
      await write(block.subarray(0, at));
      at = 0;
    }
    at = gathered.writeItemHead(index, block, at);
    const item = gathered.item(index);
    let from = gathered.itemFrom;
    while (from < item.length) {
      if (at === block.length) {
        await write(block);
        at = 0;
      }
      const copied = item.copy(block, at, from);
      at += copied;
      from += copied;
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
): Promise<void> {
  const { response, audit } = context;
  if (audit?.recordsResponse) audit.responded(gatherWhole(gathered), contentType);
  const headers = headersFor(context, contentType);
  const compressed = compresses(context, gathered.totalBytes);
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
  const block = takeBlock();
  const timer = setTimeout(() => abort(context), timeoutMs);
  try {
    if (compressed) await sendCompressed(context, gathered, block);
    else {
      await writeBlocks(gathered, block, (filled) => written(context, filled));
      response.end();
    }
    giveBlock(block);
  } catch (error) {
    // The block is not used again: a write may still hold it.
    if (!isClosed(response)) throw error;
  } finally {
    clearTimeout(timer);
  }
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
