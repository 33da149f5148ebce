/** Reads response bodies completely or as streams. */
import { limits } from '../limits.js';
import type { RestResponse } from './rest-types.js';
import { fromSocketError, TransportError } from './transport-error.js';

export class BufferedResponse implements RestResponse {
  constructor(
    readonly statusCode: number,
    readonly headers: RestResponse['headers'],
    readonly body: Buffer,
  ) {}

  json<T>(): T {
    return JSON.parse(this.body.toString('utf8')) as T;
  }
}

/** The complete body. Throws if it exceeds the limit. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const { responseBytesMax } = limits;
  let byteCount = 0;
  for await (const chunk of body) {
    byteCount += chunk.byteLength;
    if (byteCount > responseBytesMax) {
      const message = `response is larger than ${responseBytesMax} bytes`;
      throw new TransportError('response_too_large', message, true);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, byteCount);
}

export interface StreamObserver {
  onBytes(): void;
  /** The connection was lost before the end of the body. */
  onLost(error: TransportError): void;
}

/** Yields the body as it arrives. Throws `TransportError` if the connection is lost. */
export async function* observedBody(
  body: AsyncIterable<Uint8Array>,
  server: string,
  observer: StreamObserver,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of body) {
      observer.onBytes();
      yield chunk;
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    const failure = fromSocketError(error, server);
    observer.onLost(failure);
    throw failure;
  }
}
