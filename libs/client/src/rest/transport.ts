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
  streams: Dispatcher;
}

const connectTimeoutMs = 5_000;
/** Below the idle timeout of common servers, so that they do not close what is about to be used. */
const keepAliveMs = 4_000;
const tcpProbeMs = 15_000;

export class Transport {
  private readonly servers: Server[];
  private currentIndex: number;

  constructor(private readonly options: RestClientOptions) {
    if (options.servers.length === 0) throw new Error('a client needs at least one server');
    this.servers = options.servers.map((server) => openServer(server, options));
    // Clients of several servers spread over them.
    const random = options.random ?? Math.random;
    this.currentIndex = Math.floor(random() * this.servers.length) % this.servers.length;
  }

  get current(): Server {
    return this.servers[this.currentIndex]!;
  }

  /**
   * Leaves `failed` for the next server, unless another request has done so already. With `isSilent`, its
   * streams are cut too: a server that does not answer sends no changes either, and nobody would notice.
   */
  moveOn(failed: Server, isSilent: boolean): void {
    if (this.servers.length === 1 || this.current !== failed) return;
    this.currentIndex = (this.currentIndex + 1) % this.servers.length;
    if (!isSilent) return;
    const silent = failed.streams;
    failed.streams = openPool(failed.url, limits.streamCountMax, this.options);
    void silent.destroy(new Error('the server does not answer'));
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
  return {
    url,
    basePath: url.pathname.replace(/\/+$/, ''),
    requests: openPool(url, options.connectionsMax ?? 16, options),
    streams: openPool(url, limits.streamCountMax, options),
  };
}

/** Deadlines are kept by the client, which knows what it asked for. */
function openPool(url: URL, connections: number, options: RestClientOptions): Dispatcher {
  return new Pool(url.origin, {
    connections,
    bodyTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    connect: {
      timeout: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: tcpProbeMs,
      ...(url.protocol === 'https:' ? tlsOptions(options) : {}),
    },
  });
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
