/**
 * Writes responses. HTTP/1.1 and HTTP/2 look alike here; headers that every response has are set in
 * one place. Nothing is sent twice: a response that cannot be finished closes the connection.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Writable } from 'node:stream';
import { createGzip, type Gzip } from 'node:zlib';
import { gzipThresholdBytes } from '../limits.js';
import type { RawResponse, RequestContext } from './request-context.js';

/** Characters of all warnings; if there are more, each is truncated. */
const warningsLengthMax = 4 * 1024;
const truncatedWarningLengthMax = 256;
const unsendable = /[\p{Cc}\u2028\u2029]/u;

/** A `Warning` header value with the quoted text. */
function warningHeader(text: string): string {
  return `299 - "${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Each text once, in order; without texts that no header can contain. */
export function warningHeaders(warnings: readonly string[]): string[] {
  const texts = [...new Set(warnings)].filter((text) => text !== '' && !unsendable.test(text));
  const totalLength = texts.reduce((total, text) => total + [...text].length, 0);
  const isTooLong = totalLength > warningsLengthMax;
  const headers: string[] = [];
  let length = 0;
  for (const text of texts) {
    if (length >= warningsLengthMax) break;
    const characters = [...text];
    const sent = isTooLong ? characters.slice(0, truncatedWarningLengthMax) : characters;
    length += sent.length;
    // Headers are written as Latin-1.
    headers.push(Buffer.from(warningHeader(sent.join(''))).toString('latin1'));
  }
  return headers;
}

export function headersFor(context: RequestContext, contentType: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'content-type': contentType,
    'cache-control': 'no-cache, private',
    // Browsers must not take objects of users for pages or scripts.
    'x-content-type-options': 'nosniff',
  };
  const { strictTransportSecurity } = context.options;
  if (strictTransportSecurity !== '') {
    headers['strict-transport-security'] = strictTransportSecurity;
  }
  for (const name in context.headers) headers[name] = context.headers[name];
  if (context.warnings.length > 0 && context.options.warningHeaders) {
    Object.assign(headers, { warning: warningHeaders(context.warnings) });
  }
  return headers;
}

export function writeHead(
  context: RequestContext,
  statusCode: number,
  headers: OutgoingHttpHeaders,
): void {
  context.audit?.started(statusCode);
  // Both protocols take these; their other overloads differ.
  (context.response as ServerResponse).writeHead(statusCode, headers);
}

/** Sends the head of a response whose body follows later. */
export function flushHead({ response }: RequestContext): void {
  if ('flushHeaders' in response) response.flushHeaders();
}

export function acceptsGzip(context: RequestContext): boolean {
  const accepted = context.request.headers['accept-encoding'];
  return typeof accepted === 'string' && /(^|[\s,])gzip([\s,;]|$)/.test(accepted);
}

/** Whether a response body of `bytes` bytes is sent compressed. */
export function compresses(context: RequestContext, bytes: number): boolean {
  return bytes >= gzipThresholdBytes && context.options.compression && acceptsGzip(context);
}

/** Sends a response whose body is in memory. */
export function sendBody(
  context: RequestContext,
  statusCode: number,
  contentType: string,
  body: Buffer,
): void {
  context.audit?.responded(body, contentType);
  const headers = headersFor(context, contentType);
  if (compresses(context, body.length)) {
    headers['content-encoding'] = 'gzip';
    headers.vary = 'Accept-Encoding';
    writeHead(context, statusCode, headers);
    compressorFor(context).end(body);
    return;
  }
  headers['content-length'] = body.length;
  writeHead(context, statusCode, headers);
  endWith(context, body);
}

/** A stream that compresses its input and sends it. */
export function compressorFor(context: RequestContext): Gzip {
  const gzip = createGzip({ level: 1 });
  context.streaming = true;
  gzip.on('data', (chunk: Buffer) => {
    context.bodyBytes += chunk.length;
  });
  gzip.pipe(context.response as Writable);
  return gzip;
}

/** Closes the connection of a response that cannot be finished. */
export function abort(context: RequestContext): void {
  context.aborted = true;
  context.response.destroy();
}

export function endWith(context: RequestContext, body: Buffer): void {
  const { request, response } = context;
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  context.bodyBytes = body.length;
  response.end(body);
}

/** Whether the response has ended or can no longer be sent. */
export function isGone({ response }: RequestContext): boolean {
  return isClosed(response) || response.writableEnded;
}

/** Whether the connection is closed. HTTP/2 responses have no `destroyed` of their own. */
export function isClosed(response: RawResponse): boolean {
  return 'stream' in response ? response.stream.destroyed : response.destroyed;
}
