/**
 * Forwards the TCP connections of one port. Each goes to one endpoint for its whole life; if that cannot
 * be reached another is tried before the client notices. Half-closed connections stay half open.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type Endpoint, endpointKey } from '../balancing/endpoint-picker.js';
import {
  acceptBacklog,
  connectAttemptCountMax,
  connectTimeoutMs,
  keepAliveDelayMs,
} from '../limits.js';
import type { Forwarder, ForwarderSettings } from './forwarder.js';

export class TcpForwarder implements Forwarder {
  readonly protocol = 'TCP';
  private readonly server: Server;
  private readonly clients = new Set<Socket>();

  constructor(private readonly settings: ForwarderSettings) {
    const options = { allowHalfOpen: true, pauseOnConnect: true, noDelay: true };
    this.server = createServer(options, (client) => this.accept(client));
  }

  get connectionCount(): number {
    return this.clients.size;
  }

  /** Where it listens: of interest when port 0 was asked for. */
  get port(): number {
    const address = this.server.address();
    return address && typeof address === 'object' ? address.port : this.settings.port;
  }

  open(): Promise<void> {
    const { address, port, logger, name } = this.settings;
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
    // Open connections keep their endpoint; new ones ask the picker.
  }

  close(): void {
    this.server.close();
  }

  destroy(): void {
    this.close();
    for (const client of this.clients) client.destroy();
  }

  private accept(client: Socket): void {
    const { metrics, connectionCountMax, logger, name } = this.settings;
    client.on('error', (error) => logger.debug({ err: error, name }, 'client connection broke'));
    if (this.clients.size >= connectionCountMax) {
      metrics.refused.inc({ protocol: 'TCP', reason: 'connection_limit' });
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
        else this.join(client, upstream);
      },
      (error: unknown) => {
        logger.error({ err: error, name }, 'forwarding failed');
        client.destroy();
      },
    );
  }

  /** Undefined if no endpoint can be reached. */
  private async connectUpstream(client: Socket): Promise<Socket | undefined> {
    const { picker, clock, metrics, logger, name } = this.settings;
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
        logger.debug({ err: error, name, endpoint }, 'endpoint not reached');
      }
    }
    const reason = tried.size === 0 ? 'no_endpoints' : 'endpoints_unreachable';
    metrics.refused.inc({ protocol: 'TCP', reason });
    return undefined;
  }

  private dial({ ip, port }: Endpoint): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: ip, port, allowHalfOpen: true, noDelay: true });
      const timer = this.settings.clock.setTimer(connectTimeoutMs, () => {
        socket.destroy(new Error(`no answer from ${ip}:${port} in ${connectTimeoutMs} ms`));
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

  private join(client: Socket, upstream: Socket): void {
    const { logger, name } = this.settings;
    upstream.on('error', (error) => {
      logger.debug({ err: error, name }, 'endpoint connection broke');
      // The client learns that it broke, not that it ended in order.
      if (!client.destroyed) client.resetAndDestroy();
    });
    client.on('error', () => upstream.destroy());
    client.on('close', (broke) => {
      if (broke || !upstream.writableEnded) upstream.destroy();
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
