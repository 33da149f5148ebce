/** Opens streaming connections to the API: WebSockets, or a socket upgraded to SPDY. */
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import { ApiError, fromResponse, type RawServer, TransportError } from '@orch/client';
import { webSocketMessageBytesMax } from '@orch/streaming';
import { WebSocket } from 'ws';
import type { Session } from '../session/session.js';

const connectTimeoutMs = 30_000;
/** Bytes of a response that rejects the upgrade. */
const refusalBytesMax = 64 * 1024;

/** Connects to the first reachable server. The response of a reachable server is final. */
async function atAnyServer<T>(session: Session, open: (server: RawServer) => Promise<T>) {
  let last: unknown;
  for (const server of session.rawServers()) {
    try {
      return await open(server);
    } catch (error) {
      if (error instanceof ApiError) throw error;
      last = error;
    }
  }
  throw last;
}

async function refusal(answer: IncomingMessage): Promise<ApiError> {
  let text = '';
  for await (const chunk of answer) if (text.length < refusalBytesMax) text += chunk;
  return fromResponse(answer.statusCode ?? 500, text);
}

function unreachable(server: RawServer, cause: Error): TransportError {
  const message = `cannot connect to ${server.url}: ${cause.message}`;
  return new TransportError('connect_failed', message, false, { cause });
}

/**
 * An open WebSocket, paused until its owner listens. Rejects with ApiError if the server rejects
 * the upgrade.
 */
export function openWebSocket(
  session: Session,
  path: string,
  protocols: readonly string[],
): Promise<WebSocket> {
  return atAnyServer(session, (server) => {
    const socket = new WebSocket(server.url.replace(/^http/, 'ws') + path, [...protocols], {
      ...server.tls,
      headers: server.headers,
      handshakeTimeout: connectTimeoutMs,
      perMessageDeflate: false,
      maxPayload: webSocketMessageBytesMax,
    });
    return new Promise((resolve, reject) => {
      socket.once('error', (error) => reject(unreachable(server, error)));
      socket.once('unexpected-response', (_request, answer) => {
        refusal(answer).then(reject, reject);
      });
      socket.once('open', () => {
        socket.pause();
        resolve(socket);
      });
    });
  });
}

/** A connection upgraded to SPDY/3.1. Rejects with ApiError if the server rejects the upgrade. */
export function openSpdySocket(session: Session, path: string, protocol: string): Promise<Duplex> {
  return atAnyServer(session, (server) => {
    const ask = server.url.startsWith('https:') ? httpsRequest : httpRequest;
    const outgoing = ask(server.url + path, {
      ...server.tls,
      method: 'POST',
      agent: false,
      headers: {
        ...server.headers,
        'content-length': 0,
        connection: 'Upgrade',
        upgrade: 'SPDY/3.1',
        'x-stream-protocol-version': protocol,
      },
    });
    return new Promise<Duplex>((resolve, reject) => {
      const timer = setTimeout(
        () => outgoing.destroy(new Error(`no response within ${connectTimeoutMs} ms`)),
        connectTimeoutMs,
      );
      const settled = () => clearTimeout(timer);
      outgoing.once('close', settled);
      outgoing.once('error', (error) => reject(unreachable(server, error)));
      outgoing.once('response', (answer) => {
        refusal(answer).then(reject, reject);
      });
      outgoing.once('upgrade', (_answer, socket, head) => {
        settled();
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      });
      outgoing.end();
    });
  });
}
