/**
 * A rendered document that is the same for every client: its bytes, their content type and, after
 * the first request for them, their compressed form. It is sent compressed if the client accepts
 * gzip, and not at all if the client has it already.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip as compress } from 'node:zlib';
import type { RequestContext } from '../http/request-context.js';
import { acceptsGzip, headersFor, writeHead } from '../http/respond.js';

const gzip = promisify(compress);

export class RenderedDocument {
  private compressed: Promise<Buffer> | undefined;

  constructor(
    readonly body: Buffer,
    readonly contentType: string,
    /** Equal bytes have equal hashes on every server. */
    readonly hash = createHash('sha256').update(body).digest('hex'),
  ) {}

  /** Compressed on another thread, once. */
  gzipped(): Promise<Buffer> {
    this.compressed ??= gzip(this.body);
    return this.compressed;
  }
}

export async function sendDocument(
  context: RequestContext,
  document: RenderedDocument,
): Promise<void> {
  const etag = `"${document.hash}"`;
  Object.assign(context.headers, { etag, vary: 'Accept, Accept-Encoding' });
  if (isCached(context.request.headers['if-none-match'], etag)) return sendEmpty(context, 304);
  const compressed = acceptsGzip(context);
  const body = compressed ? await document.gzipped() : document.body;
  const headers = headersFor(context, document.contentType);
  if (compressed) headers['content-encoding'] = 'gzip';
  headers['content-length'] = body.length;
  writeHead(context, 200, headers);
  if (context.request.method === 'HEAD') context.response.end();
  else context.response.end(body);
}

export function sendEmpty(context: RequestContext, statusCode: number): void {
  const headers = { 'cache-control': 'no-cache, private', ...context.headers };
  writeHead(
    context,
    statusCode,
    statusCode === 304 ? headers : { ...headers, 'content-length': 0 },
  );
  context.response.end();
}

function isCached(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.split(',').map((text) => text.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
