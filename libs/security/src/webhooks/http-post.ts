/**
 * Posts a document over HTTP or HTTPS and reads the response. It bounds the size of the response,
 * also of a compressed one, and ends with the caller's signal.
 */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type EndSignal, errorCode } from '@orch/component';
import type { ConnectionPool } from './connection-pool.js';
import { type ExchangeResponse, ResponseSizeError } from './exchange.js';

export interface HttpPost {
  readonly url: URL;
  readonly pool: ConnectionPool;
  /** Besides those of the content. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: EndSignal;
  /** Size of the response, after decompression. */
  readonly responseBytesMax: number;
  /** 0: a redirect is the response. */
  readonly redirectCountMax?: number;
}

export interface HttpPostResponse {
  readonly statusCode: number;
  readonly contentType: string;
  /** Of `Retry-After`; undefined if the server sent none in seconds. */
  readonly retryAfterSeconds: number | undefined;
  readonly text: string;
}

const accepted = { accept: 'application/json, */*', 'accept-encoding': 'gzip' } as const;
const sent = { ...accepted, 'content-type': 'application/json' } as const;

/**
 * Rejects with the error of the connection, ConnectionClosedError, ResponseSizeError, or as the
 * signal aborts.
 */
export async function post(options: HttpPost): Promise<HttpPostResponse> {
  const { pool, redirectCountMax = 0, signal, responseBytesMax } = options;
  let { url } = options;
  let body: string | null = options.body;
  for (let count = 0; ; count += 1) {
    const response = await pool.exchange({
      url,
      method: body === null ? 'GET' : 'POST',
      headers: {
        ...(url.host === options.url.host ? options.headers : withoutCredentials(options.headers)),
        ...(body === null ? accepted : sent),
      },
      body,
      signal,
      responseBytesMax,
    });
    const { statusCode } = response;
    const target = redirectTarget(url, response);
    if (!target || redirectCountMax === 0) return decoded(response, responseBytesMax);
    if (count === redirectCountMax) {
      throw new Error(`stopped after ${redirectCountMax} redirects`);
    }
    if (target.protocol !== options.url.protocol) {
      throw new Error(`the redirect to ${target.protocol} is not followed`);
    }
    // The older redirects turn every request into a read.
    if (statusCode < 307) body = null;
    url = target;
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirectTarget(url: URL, response: ExchangeResponse): URL | undefined {
  if (!redirects.has(response.statusCode)) return undefined;
  const location = headerOf(response, 'location');
  if (location === undefined) return undefined;
  if (!URL.canParse(location, url.href)) throw new Error('the redirect has an invalid location');
  return new URL(location, url);
}

/** Another server must not receive the credentials. */
function withoutCredentials(headers: HttpPost['headers']): HttpPost['headers'] {
  const { authorization: _authorization, host: _host, ...others } = headers;
  return others;
}

async function decoded(response: ExchangeResponse, bytesMax: number): Promise<HttpPostResponse> {
  const { statusCode, body } = response;
  const isCompressed = headerOf(response, 'content-encoding') === 'gzip' && body.length > 0;
  const content = isCompressed ? await decompressed(body, bytesMax) : body;
  const seconds = headerOf(response, 'retry-after') ?? '';
  return {
    statusCode,
    contentType: headerOf(response, 'content-type') ?? '',
    retryAfterSeconds: /^\d{1,6}$/.test(seconds) ? Number(seconds) : undefined,
    text: content.toString(),
  };
}

/** The first one of a repeated header counts. */
function headerOf({ headers }: ExchangeResponse, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

const gunzipped = promisify(gunzip) as (
  body: Buffer,
  options: { readonly maxOutputLength: number },
) => Promise<Buffer>;

async function decompressed(body: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await gunzipped(body, { maxOutputLength: bytesMax });
  } catch (error) {
    if (errorCode(error) !== 'ERR_BUFFER_TOO_LARGE') throw error;
    throw new ResponseSizeError(bytesMax);
  }
}
