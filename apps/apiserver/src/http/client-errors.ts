/**
 * Responds to input that is not valid HTTP or exceeds a limit of the server: with a Status if no
 * response has begun, then the connection is closed. The request handler does not see it.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, StatusError } from '@orch/apimachinery';
import { headerBytesMax } from '../context/serving.js';

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

/** Returns the complete HTTP/1.1 response to a request that cannot be parsed. */
export function clientErrorResponse(errorCode: string | undefined): string {
  const { code, status } = statusOf(errorCode);
  const body = JSON.stringify(status);
  return [
    `HTTP/1.1 ${code} ${reasonPhrases[code]}`,
    'Content-Type: application/json',
    'Cache-Control: no-cache, private',
    'X-Content-Type-Options: nosniff',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** A socket with the response in progress, which must not be interleaved. */
interface HttpSocket extends Socket {
  readonly _httpMessage?: Pick<ServerResponse, 'headersSent'> | null;
}

export function respondToClientError(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  const hasResponse = socket._httpMessage?.headersSent === true;
  if (hasResponse || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(clientErrorResponse(error.code), () => socket.destroy());
}
