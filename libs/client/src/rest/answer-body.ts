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

export async function* withTransportErrors(
  body: AsyncIterable<Uint8Array>,
  server: string,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    throw fromSocketError(error, server);
  }
}
