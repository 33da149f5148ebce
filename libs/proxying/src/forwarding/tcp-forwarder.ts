/**
 * Forwards the TCP connections of one port. A connection is forwarded to one endpoint for its
 * lifetime; if an endpoint is unreachable, another one is tried, which the client does not notice.
 * Half-closed connections are supported.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Endpoint, endpointKey } from '../balancing/endpoint-picker.js';
import {
  acceptBacklog,
  connectAttemptCountMax,
  connectTimeoutMs,
  keepAliveDelayMs,
} from '../limits.js';
import type { Forwarder, ForwarderDependencies } from './forwarder.js';

export class TcpForwarder implements Forwarder {
  readonly protocol = 'TCP';
  private readonly server: Server;
  private readonly clients = new Set<Socket>();

  constructor(private readonly dependencies: ForwarderDependencies) {
    const options = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true };
    this.server = createServer(options, (client) => this.accept(client));
  }

  get connectionCount(): number {
    return this.clients.size;
  }

  /** The listening port, which differs from the requested port 0. */
  get port(): number {
    const address = this.server.address();
    return address && typeof address === 'object' ? address.port : this.dependencies.port;
  }

  open(): Promise<void> {
    const { address, port, logger, name } = this.dependencies;
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ host: address, port, backlog: acceptBacklog }, () => {
        this.server.removeListener('error', reject);
        this.server.on('error', (error) => logger.error({ err: error, name }, 'listener failed'));
        resolve();
      });
    });
  }

  endpointsChanged(): void {
    // Open connections keep their endpoint; the picker selects only for new ones.
  }

  close(): void {
    this.server.close();
  }

  destroy(): void {
    this.close();
    for (const client of this.clients) client.destroy();
  }

  private accept(client: Socket): void {
    const { accepts, metrics, connectionCountMax, logger, name } = this.dependencies;
    client.on('error', (error) => logger.debug({ err: error, name }, 'client connection failed'));
    const isAccepted = accepts(client.remoteAddress ?? '');
    if (!isAccepted || this.clients.size >= connectionCountMax) {
      const reason = isAccepted ? 'connection_limit' : 'source_range';
      metrics.refused.inc({ protocol: 'TCP', reason });
      client.resetAndDestroy();
      return;
    }
    this.clients.add(client);
    metrics.open.inc({ protocol: 'TCP' });
    client.on('close', () => {
      this.clients.delete(client);
      metrics.open.dec({ protocol: 'TCP' });
    });
    this.connectUpstream(client).then(
      (upstream) => {
        if (!upstream) client.resetAndDestroy();
        else if (client.destroyed) upstream.destroy();
        else this.connectStreams(client, upstream);
      },
      (error: unknown) => {
        logger.error({ err: error, name }, 'forwarding failed');
        client.destroy();
      },
    );
  }

  /** Connects to an endpoint; resolves with undefined if none is reachable. */
  private async connectUpstream(client: Socket): Promise<Socket | undefined> {
    const { picker, clock, metrics, logger, name } = this.dependencies;
    const tried = new Set<string>();
    while (tried.size < connectAttemptCountMax && !client.destroyed) {
      const endpoint = picker.pick(client.remoteAddress ?? '', clock.monotonicMs(), tried);
      if (!endpoint) break;
      tried.add(endpointKey(endpoint));
      try {
        const upstream = await this.dial(endpoint);
        metrics.connections.inc({ protocol: 'TCP' });
        return upstream;
      } catch (error) {
        metrics.connectFailures.inc({ protocol: 'TCP' });
        logger.debug({ err: error, name, endpoint }, 'endpoint unreachable');
      }
    }
    const reason = tried.size === 0 ? 'no_endpoints' : 'endpoints_unreachable';
    metrics.refused.inc({ protocol: 'TCP', reason });
    return undefined;
  }

  private dial({ ip, port }: Endpoint): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: ip, port, allowHalfOpen: true, noDelay: true });
      const timer = this.dependencies.clock.setTimer(connectTimeoutMs, () => {
        socket.destroy(new Error(`no response from ${ip}:${port} within ${connectTimeoutMs} ms`));
      });
      const fail = (error: Error) => {
        timer.cancel();
        reject(error);
      };
      socket.once('error', fail);
      socket.once('connect', () => {
        timer.cancel();
        socket.removeListener('error', fail);
        resolve(socket);
      });
    });
  }

  private connectStreams(client: Socket, upstream: Socket): void {
    const { logger, name } = this.dependencies;
    upstream.on('error', (error) => {
      logger.debug({ err: error, name }, 'endpoint connection failed');
      // A reset signals to the client that the connection failed instead of ending normally.
      if (!client.destroyed) client.resetAndDestroy();
    });
    client.on('error', () => upstream.destroy());
    client.on('close', (hadError) => {
      if (hadError || !upstream.writableEnded) upstream.destroy();
    });
    upstream.on('close', () => {
      if (!client.writableEnded) client.destroy();
    });
    client.setKeepAlive(true, keepAliveDelayMs);
    upstream.setKeepAlive(true, keepAliveDelayMs);
    client.pipe(upstream);
    upstream.pipe(client);
  }
}
