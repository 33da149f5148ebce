/**
 * Serves upgrade requests with a body as plain requests, because no upgrade here has a body. Node
 * treats the bytes after the head of such a request as the other protocol; the connection is
 * therefore passed, with the request without its upgrade headers, to a server without upgrades, and
 * closed after the response.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { headerBytesMax, type Listener } from '../context/serving.js';
import { respondToClientError } from './client-errors.js';

const aboutConnection: ReadonlySet<string> = new Set(['connection', 'upgrade', 'http2-settings']);

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/** `head`: the bytes received after the head of the request. */
export type ServeIgnoring = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

export function ignoringUpgrades(listener: Listener): ServeIgnoring {
  const server = createServer({ maxHeaderSize: headerBytesMax, requestTimeout: 0 }, listener);
  server.on('clientError', respondToClientError);
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
