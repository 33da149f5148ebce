/**
 * A finished document that is the same for everyone: its bytes, what they are called and, once asked for,
 * what they are compressed. It is sent compressed where the client can read that, and not at all where
 * the client has it already.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip as compress } from 'node:zlib';
import { acceptsGzip, type Exchange, headersFor, writeHead } from './exchange.js';

const gzip = promisify(compress);

export class RenderedDocument {
  private compressed: Promise<Buffer> | undefined;

  constructor(
    readonly body: Buffer,
    readonly contentType: string,
    /** Same bytes, same text, on every server. */
    readonly hash = createHash('sha256').update(body).digest('hex'),
  ) {}

  /** Compressed on another thread, once. */
  gzipped(): Promise<Buffer> {
    this.compressed ??= gzip(this.body);
    return this.compressed;
  }
}

export async function sendDocument(exchange: Exchange, document: RenderedDocument): Promise<void> {
  const etag = `"${document.hash}"`;
  Object.assign(exchange.headers, { etag, vary: 'Accept, Accept-Encoding' });
  if (isKnown(exchange.request.headers['if-none-match'], etag)) return sendEmpty(exchange, 304);
  const compressed = acceptsGzip(exchange);
  const body = compressed ? await document.gzipped() : document.body;
  const headers = headersFor(exchange, document.contentType);
  if (compressed) headers['content-encoding'] = 'gzip';
  headers['content-length'] = body.length;
  writeHead(exchange, 200, headers);
  if (exchange.request.method === 'HEAD') exchange.response.end();
  else exchange.response.end(body);
}

export function sendEmpty(exchange: Exchange, statusCode: number): void {
  const headers = { 'cache-control': 'no-cache, private', ...exchange.headers };
  writeHead(
    exchange,
    statusCode,
    statusCode === 304 ? headers : { ...headers, 'content-length': 0 },
  );
  exchange.response.end();
}

function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = ifNoneMatch?.split(',').map((text) => text.trim().replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}
