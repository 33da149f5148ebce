/**
 * Connections: for each server one pool for requests and one for streams, so that watches never take
 * the place of requests. One server is in use at a time; `moveOn` makes it the next one.
 */
import { type Dispatcher, Pool } from 'undici';
import { limits } from '../limits.js';
import type { RestClientOptions } from './rest-types.js';

export interface Server {
  readonly url: URL;
  /** Path before every request's, without a slash at its end. */
  readonly basePath: string;
  readonly requests: Dispatcher;
  readonly streams: Dispatcher;
}

const connectTimeoutMs = 5_000;
/** Below the idle timeout of common servers, so that they do not close what is about to be used. */
const keepAliveMs = 4_000;
const tcpProbeMs = 15_000;

export class Transport {
  private readonly servers: Server[];
  private currentIndex = 0;

  constructor(options: RestClientOptions) {
    if (options.servers.length === 0) throw new Error('a client needs at least one server');
    this.servers = options.servers.map((server) => openServer(server, options));
  }

  get current(): Server {
    return this.servers[this.currentIndex]!;
  }

  get serverCount(): number {
    return this.servers.length;
  }

  /** Leaves `failed`, unless another request has done so already. */
  moveOn(failed: Server): void {
    if (this.current === failed) this.currentIndex = (this.currentIndex + 1) % this.servers.length;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.servers.flatMap((server) => [server.requests.destroy(), server.streams.destroy()]),
    );
  }
}

function openServer(server: string, options: RestClientOptions): Server {
  const url = new URL(server);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`server ${server} is neither http nor https`);
  }
  const pool = (connections: number, bodyTimeout: number) =>
    new Pool(url.origin, {
      connections,
      bodyTimeout,
      headersTimeout: 0,
      keepAliveTimeout: keepAliveMs,
      connect: {
        timeout: connectTimeoutMs,
        keepAlive: true,
        keepAliveInitialDelay: tcpProbeMs,
        ...(url.protocol === 'https:' ? tlsOptions(options) : {}),
      },
    });
  return {
    url,
    basePath: url.pathname.replace(/\/+$/, ''),
    requests: pool(options.connectionsMax ?? 16, 0),
    streams: pool(limits.streamCountMax, 0),
  };
}

function tlsOptions(options: RestClientOptions) {
  return {
    ...(options.ca ? { ca: options.ca } : {}),
    ...(options.clientCertificate
      ? { cert: options.clientCertificate.certificate, key: options.clientCertificate.key }
      : {}),
    ...(options.tlsServerName ? { servername: options.tlsServerName } : {}),
    rejectUnauthorized: !options.insecureSkipTlsVerify,
  };
}
