/**
 * Requests that ask for an upgrade and carry a body: nothing here is upgraded with one, so they are served
 * as if they had not asked. Node takes what follows the head of such a request for the other protocol;
 * the connection therefore begins anew, with the request as it would be without its wish, at a server
 * that does not upgrade, and ends with the answer.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { answerClientError } from './client-errors.js';
import { headerBytesMax, type Listener } from './serving.js';

const aboutConnection: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/** `head`: what has come after the head of the request. */
export type ServeIgnoring = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

export function ignoringUpgrades(listener: Listener): ServeIgnoring {
  const server = createServer({ maxHeaderSize: headerBytesMax, requestTimeout: 0 }, listener);
  server.on('clientError', answerClientError);
  return (request, socket, head) => {
    socket.unshift(Buffer.concat([headWithoutUpgrade(request), head]));
    server.emit('connection', socket);
  };
}

function headWithoutUpgrade({ method, url, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/1.1`, 'Connection: close'];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (!aboutConnection.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[index + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}
