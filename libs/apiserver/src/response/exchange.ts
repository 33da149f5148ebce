/**
 * One request and its answer on the wire. Both protocols look alike here; headers that every answer
 * carries are set in one place. Nothing is sent twice: an answer that cannot be finished ends the
 * connection.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Writable } from 'node:stream';
import { createGzip, type Gzip } from 'node:zlib';
import type { AuditRecord } from '../audit/audit-record.js';
import { gzipThresholdBytes } from '../limits.js';
import type { ClientUpgrade } from '../server/upgrade.js';

export type RawRequest = IncomingMessage | Http2ServerRequest;
export type RawResponse = ServerResponse | Http2ServerResponse;

/** Warnings are cut to what fits in headers. */
const warningsBytesMax = 4 * 1024;

export interface Exchange {
  readonly request: RawRequest;
  readonly response: RawResponse;
  /** Texts for `Warning` headers. */
  readonly warnings: string[];
  /** Headers of this answer besides those every answer has. */
  readonly headers: OutgoingHttpHeaders;
  /** The client wants to speak something else on this connection. */
  readonly upgrade?: ClientUpgrade | undefined;
  /** What the audit log says of it; undefined when nothing. */
  audit: AuditRecord | undefined;
  /** What is left out of every answer of this server. */
  readonly without: LeftOut;
  /** Of the body of the answer, as sent so far. */
  bodyBytes: number;
  /** The answer is still being sent when its handler is done: it ends with the connection. */
  goesOn: boolean;
  /** The server cut the answer off. */
  aborted: boolean;
}

export interface LeftOut {
  readonly compression: boolean;
  readonly warnings: boolean;
}

const nothing: LeftOut = { compression: false, warnings: false };

export function newExchange(
  request: RawRequest,
  response: RawResponse,
  upgrade?: ClientUpgrade,
  without: LeftOut = nothing,
): Exchange {
  return {
    request,
    response,
    warnings: [],
    headers: {},
    upgrade,
    audit: undefined,
    without,
    bodyBytes: 0,
    goesOn: false,
    aborted: false,
  };
}

/** A quoted warning as the interface's clients read it. */
function warningHeader(text: string): string {
  const printable = text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
  return `299 - "${printable.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function warningHeaders(warnings: readonly string[]): string[] {
  const headers: string[] = [];
  let bytes = 0;
  for (const text of new Set(warnings)) {
    const header = Buffer.from(warningHeader(text)).toString('latin1');
    bytes += header.length;
    if (bytes > warningsBytesMax) break;
    headers.push(header);
  }
  return headers;
}

export function headersFor(exchange: Exchange, contentType: string): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    'content-type': contentType,
    'cache-control': 'no-cache, private',
  };
  for (const name in exchange.headers) headers[name] = exchange.headers[name];
  if (exchange.warnings.length > 0 && !exchange.without.warnings) {
    Object.assign(headers, { warning: warningHeaders(exchange.warnings) });
  }
  return headers;
}

export function writeHead(
  exchange: Exchange,
  statusCode: number,
  headers: OutgoingHttpHeaders,
): void {
  exchange.audit?.started(statusCode);
  // Both protocols take these; their other overloads differ.
  (exchange.response as ServerResponse).writeHead(statusCode, headers);
}

/** Sends the head of an answer whose body comes later. */
export function flushHead({ response }: Exchange): void {
  if ('flushHeaders' in response) response.flushHeaders();
}

export function acceptsGzip(exchange: Exchange): boolean {
  const accepted = exchange.request.headers['accept-encoding'];
  return typeof accepted === 'string' && /(^|[\s,])gzip([\s,;]|$)/.test(accepted);
}

/** Whether an answer of that many bytes leaves compressed. */
export function compresses(exchange: Exchange, bytes: number): boolean {
  return bytes >= gzipThresholdBytes && !exchange.without.compression && acceptsGzip(exchange);
}

/** Sends a body that is in memory. */
export function sendBody(
  exchange: Exchange,
  statusCode: number,
  contentType: string,
  body: Buffer,
): void {
  exchange.audit?.answered(body, contentType);
  const headers = headersFor(exchange, contentType);
  if (compresses(exchange, body.length)) {
    headers['content-encoding'] = 'gzip';
    headers.vary = 'Accept-Encoding';
    writeHead(exchange, statusCode, headers);
    compressorFor(exchange).end(body);
    return;
  }
  headers['content-length'] = body.length;
  writeHead(exchange, statusCode, headers);
  endWith(exchange, body);
}

/** What is written to it is sent compressed. */
export function compressorFor(exchange: Exchange): Gzip {
  const gzip = createGzip({ level: 1 });
  exchange.goesOn = true;
  gzip.on('data', (chunk: Buffer) => {
    exchange.bodyBytes += chunk.length;
  });
  gzip.pipe(exchange.response as Writable);
  return gzip;
}

/** Ends an answer that cannot be finished: the client sees it cut off. */
export function abort(exchange: Exchange): void {
  exchange.aborted = true;
  exchange.response.destroy();
}

export function endWith(exchange: Exchange, body: Buffer): void {
  const { request, response } = exchange;
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  exchange.bodyBytes = body.length;
  response.end(body);
}

/** True when there is nobody to answer to any more. */
export function isGone({ response }: Exchange): boolean {
  return isCutOff(response) || response.writableEnded;
}

/** The client cannot be told anything any more. Responses over HTTP/2 have no `destroyed` of their own. */
export function isCutOff(response: RawResponse): boolean {
  return 'stream' in response ? response.stream.destroyed : response.destroyed;
}
