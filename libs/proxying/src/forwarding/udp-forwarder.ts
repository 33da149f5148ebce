/**
 * Forwards the datagrams of one port. A flow consists of the datagrams of one client address and
 * port; it keeps its endpoint until it is idle for a time or the endpoint is removed.
 */
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Timer } from '@orch/component';
import type { Endpoint } from '../balancing/endpoint-picker.js';
import { udpFlowCountMax } from '../limits.js';
import type { Forwarder, ForwarderDependencies } from './forwarder.js';

interface Flow {
  readonly key: string;
  readonly endpoint: Endpoint;
  readonly socket: Socket;
  usedMs: number;
}

export class UdpForwarder implements Forwarder {
  readonly protocol = 'UDP';
  private readonly socket: Socket;
  private readonly flows = new Map<string, Flow>();
  private sweepTimer: Timer | undefined;
  private closed = false;

  constructor(private readonly dependencies: ForwarderDependencies) {
    this.socket = createSocket(isIPv6(dependencies.address) ? 'udp6' : 'udp4');
    this.socket.on('message', (data, client) => this.forward(data, client));
  }

  get connectionCount(): number {
    return this.flows.size;
  }

  /** The listening port, which differs from the requested port 0. */
  get port(): number {
    return this.socket.address().port;
  }

  open(): Promise<void> {
    const { address, port, logger, name } = this.dependencies;
    return new Promise((resolve, reject) => {
      this.socket.once('error', reject);
      this.socket.bind({ address, port }, () => {
        this.socket.removeListener('error', reject);
        this.socket.on('error', (error) => logger.error({ err: error, name }, 'listener failed'));
        this.sweepLater();
        resolve();
      });
    });
  }

  endpointsChanged(): void {
    for (const flow of this.flows.values()) {
      if (!this.dependencies.picker.has(flow.endpoint)) this.end(flow);
    }
  }

  /** Closes the flows too, because responses are sent through the listening socket. */
  close(): void {
    this.destroy();
  }

  destroy(): void {
    if (this.closed) return;
    this.closed = true;
    this.sweepTimer?.cancel();
    for (const flow of this.flows.values()) this.end(flow);
    this.socket.close();
  }

  private forward(data: Buffer, client: RemoteInfo): void {
    const { accepts, metrics, clock } = this.dependencies;
    if (!accepts(client.address)) {
      metrics.refused.inc({ protocol: 'UDP', reason: 'source_range' });
      return;
    }
    const flow = this.flows.get(`${client.address} ${client.port}`) ?? this.begin(client);
    if (!flow) {
      const reason = this.flows.size >= udpFlowCountMax ? 'connection_limit' : 'no_endpoints';
      metrics.refused.inc({ protocol: 'UDP', reason });
      return;
    }
    flow.usedMs = clock.monotonicMs();
    const { ip, port } = flow.endpoint;
    flow.socket.send(data, port, ip);
  }

  private begin(client: RemoteInfo): Flow | undefined {
    const { picker, clock, metrics, connectionCountMax } = this.dependencies;
    if (this.flows.size >= Math.min(udpFlowCountMax, connectionCountMax)) return undefined;
    const nowMs = clock.monotonicMs();
    const endpoint = picker.pick(client.address, nowMs);
    if (!endpoint) return undefined;
    const socket = createSocket(isIPv6(endpoint.ip) ? 'udp6' : 'udp4');
    const key = `${client.address} ${client.port}`;
    const flow: Flow = { key, endpoint, socket, usedMs: nowMs };
    socket.on('message', (response, from) => {
      if (from.address !== endpoint.ip || from.port !== endpoint.port || this.closed) return;
      flow.usedMs = clock.monotonicMs();
      this.socket.send(response, client.port, client.address);
    });
    socket.on('error', (error) => {
      metrics.connectFailures.inc({ protocol: 'UDP' });
      this.dependencies.logger.debug({ err: error, endpoint }, 'endpoint unreachable');
      this.end(flow);
    });
    this.flows.set(key, flow);
    metrics.connections.inc({ protocol: 'UDP' });
    metrics.open.inc({ protocol: 'UDP' });
    return flow;
  }

  private end(flow: Flow): void {
    if (this.flows.get(flow.key) !== flow) return;
    this.flows.delete(flow.key);
    flow.socket.close();
    this.dependencies.metrics.open.dec({ protocol: 'UDP' });
  }

  private sweepLater(): void {
    const { clock, udpIdleTimeoutMs } = this.dependencies;
    this.sweepTimer = clock.setTimer(Math.max(1_000, udpIdleTimeoutMs / 4), () => {
      const oldestMs = clock.monotonicMs() - udpIdleTimeoutMs;
      for (const flow of this.flows.values()) if (flow.usedMs < oldestMs) this.end(flow);
      this.sweepLater();
    });
  }
}
