/** Reads a request's body into memory, within a size and a time limit. */
import { badRequest, requestEntityTooLarge, timeout } from '@orch/apimachinery';
import type { RequestContext } from '../http/request-context.js';
import { bodyReadTimeoutMs, requestBodyBytesMax } from '../limits.js';

function tooLarge(): Error {
  return requestEntityTooLarge(`limit is ${requestBodyBytesMax}`);
}

function bodyOf(chunks: readonly Buffer[], bytes: number): Buffer {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes);
}

/** Throws 413 and 504, and 400 if the client disconnects before the end. */
export function readBody({ request, response, audit }: RequestContext): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > requestBodyBytesMax) {
    // Bytes in flight are discarded, so that the client reads the response.
    request.resume();
    return Promise.reject(tooLarge());
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const timer = setTimeout(() => {
      // Without its end, the connection would stay open until the client closes it.
      if ('shouldKeepAlive' in response) response.shouldKeepAlive = false;
      fail(timeout('the request body did not arrive in time'));
    }, bodyReadTimeoutMs);
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > requestBodyBytesMax) fail(tooLarge());
      else chunks.push(chunk);
    };
    const onEnd = () => {
      stop();
      const body = bodyOf(chunks, bytes);
      audit?.bodyRead(body);
      resolve(body);
    };
    const onClose = () => fail(badRequest('the request ended before its body'));
    const fail = (error: Error) => {
      stop();
      request.resume();
      reject(error);
    };
    const stop = () => {
      clearTimeout(timer);
      request.removeListener('data', onData);
      request.removeListener('end', onEnd);
      request.removeListener('close', onClose);
      request.removeListener('error', onClose);
    };
    request.on('data', onData);
    request.once('end', onEnd);
    request.once('close', onClose);
    request.once('error', onClose);
  });
}
