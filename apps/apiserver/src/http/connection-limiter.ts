/**
 * Limits on connections whose client has not authenticated: on the rate of TLS handshakes and on
 * the number of open connections, in total and per client address. A connection is refused before
 * its handshake, which is the expensive part. Invariant: a connection is unauthenticated until the
 * first request on it has a user; from then on it counts for no limit and is never refused.
 */
import type { Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { RawRequest } from '@orch/apiserver';
import { type Clock, type Metrics, TokenBucket } from '@orch/component';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { ConnectionOptions } from '../options/connection-options.js';

/** Handshakes that may start in one moment, in seconds of the rate. */
const burstSeconds = 8;
/** Higher: more memory. Lower: an address that is inactive for a while has its full burst again. */
const addressesMax = 10_000;
/** Groups of 16 bits that identify the network of an IPv6 client. */
const networkGroupCount = 4;

type Reason =
  | 'address_handshake_rate'
  | 'address_unauthenticated'
  | 'handshake_rate'
  | 'unauthenticated';

/** The unauthenticated connections of one address, or of all. */
interface Clients {
  readonly unauthenticatedMax: number;
  /** Undefined: handshakes are not limited. */
  readonly handshakes: TokenBucket | undefined;
  unauthenticatedCount: number;
}

export class ConnectionLimiter {
  private readonly all: Clients;
  private readonly byAddress = new LRUCache<string, Clients>({ max: addressesMax });
  /** By the addresses and ports of the connection: their clients. */
  private readonly unauthenticated = new Map<string, Clients>();
  /** Sockets of HTTP/1.1 and sessions of HTTP/2. */
  private readonly authenticatedCarriers = new WeakSet<object>();
  private readonly refused;

  constructor(
    private readonly options: ConnectionOptions,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.all = this.clients(options.handshakesPerSecond, options.unauthenticatedMax);
    this.refused = metrics.counter<'reason'>({
      name: 'apiserver_refused_connections_total',
      help: 'Connections closed before the TLS handshake, by the limit that was reached.',
      labels: ['reason'],
    });
    metrics.gauge({
      name: 'apiserver_unauthenticated_connections',
      help: 'Open connections on which no request has been authenticated.',
      collect: (gauge) => gauge.set(this.all.unauthenticatedCount),
    });
  }

  /** Checks each connection before the server starts TLS. Must be called before it listens. */
  guard(server: Http2SecureServer, sessionIdleMs: number): void {
    const startTls = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (!this.admit(socket)) socket.resetAndDestroy();
      else for (const start of startTls) start.call(server, socket);
    });
    server.on('session', (session) => {
      // HTTP/1.1 has time limits of its own for clients that send nothing.
      session.setTimeout(sessionIdleMs, () => {
        if (!this.authenticatedCarriers.has(session)) session.close();
      });
    });
  }

  /** Call for each authenticated request, not for those of the anonymous user. */
  authenticated(request: RawRequest): void {
    const session = 'stream' in request ? request.stream.session : undefined;
    const carrier = session ?? request.socket;
    if (this.authenticatedCarriers.has(carrier)) return;
    this.authenticatedCarriers.add(carrier);
    this.release(keyOf(session?.socket ?? request.socket));
  }

  private admit(socket: Socket): boolean {
    // The client has already closed the connection.
    if (socket.remoteAddress === undefined) return false;
    const clients = this.clientsOf(socket.remoteAddress);
    const nowMs = this.clock.monotonicMs();
    const reason = this.refusal(clients, nowMs);
    if (reason) {
      this.refused.inc({ reason });
      return false;
    }
    for (const each of [this.all, clients]) {
      each.handshakes?.take(nowMs);
      each.unauthenticatedCount += 1;
    }
    const key = keyOf(socket);
    // A closed connection with the same addresses, whose event follows.
    this.release(key);
    this.unauthenticated.set(key, clients);
    socket.once('close', () => this.release(key));
    return true;
  }

  private refusal(clients: Clients, nowMs: number): Reason | undefined {
    // An address that exceeds its own limits takes nothing from the others.
    if (isFull(clients)) return 'address_unauthenticated';
    if (clients.handshakes?.has(nowMs) === false) return 'address_handshake_rate';
    if (isFull(this.all)) return 'unauthenticated';
    return this.all.handshakes?.has(nowMs) === false ? 'handshake_rate' : undefined;
  }

  private release(key: string): void {
    const clients = this.unauthenticated.get(key);
    if (!clients) return;
    this.unauthenticated.delete(key);
    for (const each of [this.all, clients]) each.unauthenticatedCount -= 1;
  }

  private clientsOf(remoteAddress: string): Clients {
    const network = networkOf(remoteAddress);
    const existing = this.byAddress.get(network);
    if (existing) return existing;
    const { handshakesPerSecondPerAddress, unauthenticatedPerAddressMax } = this.options;
    const created = this.clients(handshakesPerSecondPerAddress, unauthenticatedPerAddressMax);
    this.byAddress.set(network, created);
    return created;
  }

  private clients(handshakesPerSecond: number, unauthenticatedMax: number): Clients {
    const handshakes =
      handshakesPerSecond > 0
        ? new TokenBucket(
            handshakesPerSecond,
            handshakesPerSecond * burstSeconds,
            this.clock.monotonicMs(),
          )
        : undefined;
    return { unauthenticatedMax, handshakes, unauthenticatedCount: 0 };
  }
}

function isFull({ unauthenticatedMax, unauthenticatedCount }: Clients): boolean {
  return unauthenticatedMax > 0 && unauthenticatedCount >= unauthenticatedMax;
}

type Endpoints = Pick<Socket, 'localAddress' | 'remoteAddress' | 'remotePort'>;

/** A TLS socket is another object than its TCP socket, with the same addresses. */
function keyOf({ localAddress, remoteAddress, remotePort }: Endpoints): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}

/** The address, or the network of an IPv6 address, because a client may have all of it. */
export function networkOf(remoteAddress: string): string {
  if (!ipaddr.isValid(remoteAddress)) return remoteAddress;
  const address = ipaddr.process(remoteAddress);
  if (address instanceof ipaddr.IPv4) return address.toString();
  const groups = address.parts.slice(0, networkGroupCount);
  return groups.map((group) => group.toString(16)).join(':');
}
