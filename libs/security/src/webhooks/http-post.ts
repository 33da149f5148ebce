/**
 * Posts a document over HTTP or HTTPS and reads the response. It bounds the size of the response,
 * also of a compressed one, and ends with the caller's signal. A kept connection that the server
 * closes before its first byte is replaced once: the server had not read the request.
 */
import {
  type Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type EndSignal, errorCode } from '@orch/component';

export interface HttpPost {
  readonly url: URL;
  readonly agent: HttpAgent | HttpsAgent;
  /** Besides the content type and length. */
  readonly headers: OutgoingHttpHeaders;
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

/** The response is longer than its limit. */
export class ResponseSizeError extends Error {
  override readonly name = 'ResponseSizeError';
}

/** Rejects with the error of the connection, with ResponseSizeError, or as the signal aborts. */
export async function post(options: HttpPost): Promise<HttpPostResponse> {
  const { redirectCountMax = 0 } = options;
  let { url } = options;
  let body: string | undefined = options.body;
  for (let count = 0; ; count += 1) {
    const response = await exchange(options, url, body);
    const { statusCode = 0, headers } = response;
    const target = redirectTarget(url, statusCode, headers.location);
    if (!target || redirectCountMax === 0) return read(response, options);
    response.resume();
    if (count === redirectCountMax) {
      throw new Error(`stopped after ${redirectCountMax} redirects`);
    }
    if (target.protocol !== options.url.protocol) {
      throw new Error(`the redirect to ${target.protocol} is not followed`);
    }
    // The older redirects turn every request into a read.
    if (statusCode < 307) body = undefined;
    url = target;
  }
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

function redirectTarget(url: URL, statusCode: number, location: string | undefined) {
  if (!redirects.has(statusCode) || location === undefined) return undefined;
  if (!URL.canParse(location, url.href)) throw new Error('the redirect has an invalid location');
  return new URL(location, url);
}

async function exchange(
  options: HttpPost,
  url: URL,
  body: string | undefined,
): Promise<IncomingMessage> {
  try {
    return await send(options, url, body);
  } catch (error) {
    if (!(error instanceof StaleConnectionError)) throw error;
  }
  try {
    return await send(options, url, body);
  } catch (error) {
    throw error instanceof StaleConnectionError ? error.cause : error;
  }
}

/** The server closed a kept connection when the request was sent. */
class StaleConnectionError extends Error {}

function send(
  { agent, headers, signal, url: first }: HttpPost,
  url: URL,
  body: string | undefined,
): Promise<IncomingMessage> {
  const isHttps = url.protocol === 'https:';
  return new Promise((resolve, reject) => {
    const request = (isHttps ? httpsRequest : httpRequest)(url, {
      method: body === undefined ? 'GET' : 'POST',
      agent,
      headers: {
        ...(url.host === first.host ? headers : withoutCredentials(headers)),
        accept: 'application/json, */*',
        'accept-encoding': 'gzip',
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      },
    });
    // HTTP/1.1 connections are persistent without the header.
    request.removeHeader('connection');
    request.once('response', resolve);
    request.once('error', (error) => {
      const isStale = request.reusedSocket && errorCode(error) === 'ECONNRESET' && !signal.aborted;
      reject(isStale ? new StaleConnectionError('stale', { cause: error }) : error);
    });
    const end = () => request.destroy(asError(signal.reason));
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    request.once('close', () => signal.removeEventListener('abort', end));
    // The runtime sends the head and a text in one write.
    request.end(body);
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the request was aborted');
}

/** Another server must not receive the credentials. */
function withoutCredentials(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const { authorization: _authorization, host: _host, ...others } = headers;
  return others;
}

async function read(
  response: IncomingMessage,
  { responseBytesMax }: HttpPost,
): Promise<HttpPostResponse> {
  const { statusCode = 0, headers } = response;
  const isCompressed = headers['content-encoding'] === 'gzip';
  const source = isCompressed ? response.pipe(createGunzip()) : response;
  // `pipe` does not pass errors on.
  if (isCompressed) response.once('error', (error) => source.destroy(error));
  const text = await textOf(source, responseBytesMax).catch((error: unknown) => {
    response.destroy();
    source.destroy();
    throw error;
  });
  const seconds = headers['retry-after'] ?? '';
  return {
    statusCode,
    contentType: headers['content-type'] ?? '',
    retryAfterSeconds: /^\d{1,6}$/.test(seconds) ? Number(seconds) : undefined,
    text,
  };
}

/** Rejects with ResponseSizeError, and with the error of the stream. */
function textOf(source: Readable, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let byteCount = 0;
    source.on('data', (chunk: Buffer) => {
      byteCount += chunk.length;
      if (byteCount > bytesMax) {
        reject(new ResponseSizeError(`the response is longer than ${bytesMax} bytes`));
      } else chunks.push(chunk);
    });
    source.once('end', () => resolve(Buffer.concat(chunks).toString()));
    source.once('error', reject);
  });
}
