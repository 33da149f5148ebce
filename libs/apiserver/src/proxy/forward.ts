/**
 * Hands a request on to a target and its answer back, or joins the two connections where the target agrees
 * to upgrade. Invariant: nothing is held but what the sockets hold; when either side leaves, so does the
 * other.
 */
import {
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  STATUS_CODES,
} from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import type { Duplex, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TLSSocket } from 'node:tls';
import { internalError, type StatusError, serviceUnavailable } from '@orch/apimachinery';
import type { Call } from '../handlers/call.js';
import { proxyConnectTimeoutMs } from '../limits.js';
import { type Exchange, isCutOff, writeHead } from '../response/exchange.js';
import { requestHeaders, responseHeaders } from './headers.js';
import { checkRoomToJoin, joinSockets } from './join-sockets.js';

export interface Target {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  /** With its query. */
  readonly path: string;
  /** Certificates, for `https`. */
  readonly tls?: Pick<RequestOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>;
  /** What a target that cannot be reached, or whose certificate is not believed, is to the client. */
  readonly unreachable: (reason: string, isNotBelieved: boolean) => StatusError;
}

/** Changes the body and headers of an answer on its way; undefined leaves it as it is. */
export type Rewrite = (
  answer: IncomingMessage,
  headers: OutgoingHttpHeaders,
) => { readonly headers: OutgoingHttpHeaders; readonly body?: Duplex } | undefined;

type Reply =
  | { readonly kind: 'answer'; readonly answer: IncomingMessage }
  | {
      readonly kind: 'upgraded';
      readonly answer: IncomingMessage;
      readonly socket: Duplex;
      readonly head: Buffer;
    };

export const notReached = (reason: string): StatusError =>
  serviceUnavailable(`error trying to reach service: ${reason}`);

export const dialFailed = (reason: string): StatusError =>
  internalError(`error dialing backend: ${reason}`);

/** Resolves when the answer has been handed on in full, or somebody has left. */
export async function forward(call: Call, target: Target, rewrite?: Rewrite): Promise<void> {
  const { exchange } = call;
  if (exchange.upgrade) checkRoomToJoin();
  const reply = await ask(exchange, target);
  if (reply.kind === 'answer') return sendAnswer(exchange, reply.answer, rewrite);
  const { socket, head, answer } = reply;
  const client = exchange.upgrade;
  if (!client || client.socket.destroyed) {
    socket.destroy();
    return;
  }
  client.leaveHttp();
  client.socket.write(switchingHead(answer));
  if (client.head.length > 0) client.socket.unshift(client.head);
  if (head.length > 0) socket.unshift(head);
  await joinSockets(client.socket, socket);
}

/** The target's answer to the request without its upgrade. */
export async function askForAnswer(exchange: Exchange, target: Target): Promise<IncomingMessage> {
  // What the client wants to do with its connection is not for the target.
  const { upgrade: _none, ...plain } = exchange;
  const reply = await ask(plain, target);
  if (reply.kind === 'answer') return reply.answer;
  reply.socket.destroy();
  throw target.unreachable('it changed the protocol unasked', false);
}

function ask(exchange: Exchange, target: Target): Promise<Reply> {
  const { request, response, upgrade } = exchange;
  const { scheme, host, port, path, tls, unreachable } = target;
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client = {
    address: request.socket?.remoteAddress ?? '',
    host: String(request.headers[':authority'] ?? request.headers.host ?? ''),
    uri: request.url ?? '',
  };
  return new Promise((resolve, reject) => {
    const outgoing = (scheme === 'https' ? httpsRequest : httpRequest)({
      host,
      port,
      path,
      method: request.method ?? 'GET',
      agent: false,
      headers: requestHeaders(
        request.headers,
        client,
        authority,
        upgrade && (request.headers.upgrade ?? ''),
      ),
      ...(scheme === 'https' && { rejectUnauthorized: false, ...tls }),
    });
    const timer = setTimeout(
      () => outgoing.destroy(new Error(`no connection within ${proxyConnectTimeoutMs} ms`)),
      proxyConnectTimeoutMs,
    );
    const connected = () => clearTimeout(timer);
    const left = () => outgoing.destroy(new Error('the client has left'));
    response.once('close', left);
    const settle = () => {
      connected();
      response.removeListener('close', left);
    };
    outgoing.once('socket', (socket) => {
      socket.once(scheme === 'https' ? 'secureConnect' : 'connect', connected);
    });
    outgoing.once('response', (answer) => {
      settle();
      resolve({ kind: 'answer', answer });
    });
    outgoing.once('upgrade', (answer, socket, head) => {
      settle();
      resolve({ kind: 'upgraded', answer, socket, head });
    });
    outgoing.on('error', (error) => {
      settle();
      const socket = outgoing.socket as TLSSocket | null;
      reject(unreachable(error.message, Boolean(socket?.authorizationError)));
    });
    if (upgrade) outgoing.end();
    else sendBodyOf(request as unknown as Readable, outgoing);
  });
}

/** A target may answer before it has read it all; its error is told by the request itself. */
function sendBodyOf(request: Readable, outgoing: Writable): void {
  request.on('error', () => outgoing.destroy());
  request.pipe(outgoing);
}

/** Resolves when it has been handed on in full, or somebody has left. */
export async function sendAnswer(
  exchange: Exchange,
  answer: IncomingMessage,
  rewrite: Rewrite | undefined,
): Promise<void> {
  const { response } = exchange;
  if (isCutOff(response)) {
    answer.destroy();
    return;
  }
  const plain = responseHeaders(answer.headers);
  const { headers, body } = rewrite?.(answer, plain) ?? { headers: plain, body: undefined };
  writeHead(exchange, answer.statusCode ?? 502, headers);
  // A stream may have nothing to say for long after its head.
  if ('flushHeaders' in response) response.flushHeaders();
  try {
    const client = response as unknown as Writable;
    answer.on('data', (chunk: Buffer) => {
      exchange.bodyBytes += chunk.length;
    });
    if (body) await pipeline(answer, body, client);
    else await pipeline(answer, client);
  } catch (error) {
    // One of the two has gone: the client sees its answer cut off, or nobody is left to see it.
    response.destroy(error as Error);
  }
}

/** As the target has written it. */
function switchingHead(answer: IncomingMessage): string {
  const { statusCode = 101, statusMessage, rawHeaders } = answer;
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage || STATUS_CODES[statusCode]}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
