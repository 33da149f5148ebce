/**
 * What a client hears that does not speak HTTP, or not as this server allows: a Status where it still
 * can be told, then the end of its connection. Nothing of it reaches the pipeline.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, StatusError } from '@orch/apimachinery';
import { headerBytesMax } from './serving.js';

const reasonPhrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function statusOf(code: string | undefined): StatusError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new StatusError({
      code: 431,
      message: `the request's line and headers are longer than ${headerBytesMax} bytes`,
    });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new StatusError({ code: 408, message: "the request's headers did not arrive in time" });
  }
  return badRequest('the request is not valid HTTP');
}

/** Bytes of a whole HTTP/1.1 answer to a request that could not be read. */
export function clientErrorAnswer(errorCode: string | undefined): string {
  const { code, status } = statusOf(errorCode);
  const body = JSON.stringify(status);
  return [
    `HTTP/1.1 ${code} ${reasonPhrases[code]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** The answer under way on a connection, which nothing may be written into. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: Pick<ServerResponse, 'headersSent'> | null;
}

export function answerClientError(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  const isAnswering = socket._httpMessage?.headersSent === true;
  if (isAnswering || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(clientErrorAnswer(error.code), () => socket.destroy());
}
