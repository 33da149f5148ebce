/**
 * Forwards a request to a target and its response back, or joins the two connections if the target
 * agrees to upgrade. Invariant: only the sockets buffer bytes; when either side disconnects, the
 * other is closed.
 */
import {
  type Agent,
  type ClientRequest,
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
import { type Dial, httpAgent, httpsAgent } from '@orch/component';
import type { RequestContext } from '../http/request-context.js';
import { isClosed, writeHead } from '../http/respond.js';
import { proxyConnectTimeoutMs, proxyHeaderBytesMax } from '../limits.js';
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
  /** Pools connections and carries their TLS settings. Absent: a connection of its own. */
  readonly agent?: Agent;
  /** The headers of the request to the target, in place of the usual ones. */
  readonly headers?: OutgoingHttpHeaders;
  /** Ends the exchange at any point when it aborts. */
  readonly signal?: AbortSignal;
  /** Time limit for the head of the response. Absent: none besides `signal`. */
  readonly headTimeoutMs?: number;
  /** The error for a target that cannot be reached, or whose certificate is not trusted. */
  readonly unreachable: (reason: string, isUntrusted: boolean) => Error;
}

/** Rewrites body and headers of a response; undefined leaves it unchanged. */
export type Rewrite = (
  response: IncomingMessage,
  headers: OutgoingHttpHeaders,
) => { readonly headers: OutgoingHttpHeaders; readonly body?: Duplex } | undefined;

type Reply =
  | { readonly kind: 'response'; readonly response: IncomingMessage }
  | {
      readonly kind: 'upgraded';
      readonly response: IncomingMessage;
      readonly socket: Duplex;
      readonly head: Buffer;
    };

export const notReached = (reason: string): StatusError =>
  serviceUnavailable(`error trying to reach service: ${reason}`);

export const dialFailed = (reason: string): StatusError =>
  internalError(`error dialing backend: ${reason}`);

/** Resolves when the response has been forwarded completely, or a side has disconnected. */
export async function forward(
  context: RequestContext,
  target: Target,
  rewrite?: Rewrite,
): Promise<void> {
  if (context.upgrade) checkRoomToJoin();
  const reply = await send(context, target, context.upgrade !== undefined);
  if (reply.kind === 'response') return sendResponse(context, reply.response, rewrite);
  const { socket, head, response } = reply;
  const client = context.upgrade;
  if (!client || client.socket.destroyed) {
    socket.destroy();
    return;
  }
  client.leaveHttp();
  client.socket.write(switchingHead(response));
  if (client.head.length > 0) client.socket.unshift(client.head);
  if (head.length > 0) socket.unshift(head);
  await joinSockets(client.socket, socket);
}

/**
 * The target's response to the request without its upgrade, which concerns the API server alone.
 */
export async function requestWithoutUpgrade(
  context: RequestContext,
  target: Target,
): Promise<IncomingMessage> {
  const reply = await send(context, target, false);
  if (reply.kind === 'response') return reply.response;
  reply.socket.destroy();
  throw target.unreachable('it changed the protocol unasked', false);
}

function send(context: RequestContext, target: Target, isUpgrade: boolean): Promise<Reply> {
  const { request, response } = context;
  return new Promise((resolve, reject) => {
    const outgoing = open(context, target, isUpgrade);
    const limits = limitWaits(outgoing, target);
    const disconnected = () => outgoing.destroy(new Error('the client has disconnected'));
    response.once('close', disconnected);
    const settle = () => {
      limits.clear();
      response.removeListener('close', disconnected);
    };
    outgoing.once('response', (incoming) => {
      settle();
      resolve({ kind: 'response', response: incoming });
    });
    outgoing.once('upgrade', (incoming, socket, head) => {
      settle();
      resolve({ kind: 'upgraded', response: incoming, socket, head });
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      settle();
      // The target closed a pooled connection while the request was on its way.
      const isStale = outgoing.reusedSocket && error.code === 'ECONNRESET';
      if (isStale && isRepeatable(request) && !isUpgrade && !isClosed(response)) {
        resolve(send(context, target, isUpgrade));
        return;
      }
      const socket = outgoing.socket as TLSSocket | null;
      reject(target.unreachable(error.message, Boolean(socket?.authorizationError)));
    });
    if (isUpgrade) outgoing.end();
    else sendBodyOf(request, outgoing);
  });
}

/** The request to the target, of which nothing has been sent. */
function open(
  { request, options }: RequestContext,
  target: Target,
  isUpgrade: boolean,
): ClientRequest {
  const { scheme, host, port, path, signal } = target;
  const isHttps = scheme === 'https';
  const client = {
    address: request.socket?.remoteAddress ?? '',
    host: String(request.headers[':authority'] ?? request.headers.host ?? ''),
    uri: request.url ?? '',
  };
  const upgrade = isUpgrade ? (request.headers.upgrade ?? '') : undefined;
  return (isHttps ? httpsRequest : httpRequest)({
    host,
    port,
    path,
    method: request.method ?? 'GET',
    agent: target.agent ?? ownAgent(target, options.dialCluster),
    maxHeaderSize: proxyHeaderBytesMax,
    headers:
      target.headers ?? requestHeaders(request.headers, client, authorityOf(target), upgrade),
    ...(signal && { signal }),
  });
}

/** Opens one connection, which is closed with the exchange. */
function ownAgent({ scheme, tls }: Target, dial: Dial | undefined): Agent {
  if (scheme === 'http') return httpAgent({}, dial);
  return httpsAgent({ rejectUnauthorized: false, ...tls }, dial);
}

/** `host:port`, as in URLs. */
export function authorityOf({ host, port }: Pick<Target, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Limits the waits for the connection and for the head of the response. */
function limitWaits(outgoing: ClientRequest, { scheme, headTimeoutMs }: Target): { clear(): void } {
  const fail = (what: string, afterMs: number) =>
    outgoing.destroy(new Error(`no ${what} within ${afterMs} ms`));
  const connecting = setTimeout(
    () => fail('connection', proxyConnectTimeoutMs),
    proxyConnectTimeoutMs,
  );
  const head =
    headTimeoutMs === undefined
      ? undefined
      : setTimeout(() => fail('response', headTimeoutMs), headTimeoutMs);
  outgoing.once('socket', (socket) => {
    const connected = () => clearTimeout(connecting);
    if (outgoing.reusedSocket) connected();
    else socket.once(scheme === 'https' ? 'secureConnect' : 'connect', connected);
  });
  return {
    clear() {
      clearTimeout(connecting);
      clearTimeout(head);
    },
  };
}

/** Whether the request has neither an effect on the target nor a body. */
function isRepeatable({ method, headers }: RequestContext['request']): boolean {
  const hasBody = Number(headers['content-length'] ?? 0) > 0 || 'transfer-encoding' in headers;
  return (method === 'GET' || method === 'HEAD') && !hasBody;
}

/**
 * A target may respond before it has read the whole body; its error is reported by the request
 * itself.
 */
function sendBodyOf(request: Readable, outgoing: Writable): void {
  request.on('error', () => outgoing.destroy());
  // Ended already: the request is repeated.
  if (request.readableEnded) outgoing.end();
  else request.pipe(outgoing);
}

/** Resolves when the response has been sent completely, or a side has disconnected. */
export async function sendResponse(
  context: RequestContext,
  incoming: IncomingMessage,
  rewrite: Rewrite | undefined,
): Promise<void> {
  const { response } = context;
  if (isClosed(response)) {
    incoming.destroy();
    return;
  }
  const plain = responseHeaders(incoming.headers);
  const { headers, body } = rewrite?.(incoming, plain) ?? { headers: plain, body: undefined };
  writeHead(context, incoming.statusCode ?? 502, headers);
  // A stream may have no data for a long time after its head.
  if ('flushHeaders' in response) response.flushHeaders();
  try {
    const client: Writable = response;
    incoming.on('data', (chunk: Buffer) => {
      context.bodyBytes += chunk.length;
    });
    if (body) await pipeline(incoming, body, client);
    else await pipeline(incoming, client);
  } catch (error) {
    // One side has disconnected: the client sees a truncated response, if it is still connected.
    response.destroy(error as Error);
  }
}

/** The head of a 101 response as the target has sent it. */
function switchingHead(response: IncomingMessage): string {
  const { statusCode = 101, statusMessage, rawHeaders } = response;
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage || STATUS_CODES[statusCode]}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
