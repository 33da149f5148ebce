/** Answers, read whole or handed on as they arrive. */
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

export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of body) {
    byteCount += chunk.byteLength;
    if (byteCount > limits.responseBytesMax) {
      throw new TransportError('response_too_large', `answer exceeds ${byteCount} bytes`, true);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, byteCount);
}

export interface StreamObserver {
  onBytes(): void;
  /** It ended before its end. */
  onBroken(error: TransportError): void;
}

/** A body as it arrives; what breaks it is thrown as `TransportError`. */
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
    observer.onBroken(failure);
    throw failure;
  }
}
