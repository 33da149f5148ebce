/** A finished document: its bytes, what they are called and, once asked for, what they are compressed. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip as compress } from 'node:zlib';
import { documentBytesMax } from './limits.js';
import { inSlices } from './sliced.js';

const gzip = promisify(compress);

export class RenderedDocument {
  private compressed: Promise<Buffer> | undefined;

  constructor(
    readonly body: Buffer,
    /** Same bytes, same text, on every server. */
    readonly hash: string,
    readonly contentType: string,
  ) {}

  /** Compressed on another thread, once. */
  gzipped(): Promise<Buffer> {
    this.compressed ??= gzip(this.body);
    return this.compressed;
  }
}

/** Puts a document together from its parts. Throws RangeError when it gets too long. */
export async function renderDocument(
  parts: Iterable<string | Uint8Array>,
  contentType: string,
  nowMs: () => number,
): Promise<RenderedDocument> {
  const chunks: Uint8Array[] = [];
  const hash = createHash('sha256');
  let bytes = 0;
  const take = (part: string | Uint8Array) => {
    const chunk = typeof part === 'string' ? Buffer.from(part) : part;
    bytes += chunk.length;
    if (bytes > documentBytesMax) throw new RangeError('the OpenAPI document is too long');
    hash.update(chunk);
    chunks.push(chunk);
  };
  await inSlices(parts, take, nowMs);
  return new RenderedDocument(Buffer.concat(chunks), hash.digest('hex'), contentType);
}
