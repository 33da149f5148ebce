/**
 * The connections to one server: one for requests, a pool for streams, so that watches never delay
 * requests, and one connection for readiness probes, which queue behind neither.
 */
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { type Clock, expectingName, withDeadline } from '@orch/component';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { limits } from '../limits.js';
import { Http2Requests, type Requests } from './http2-requests.js';
import type { RestClientOptions, TlsCredentials } from './rest-types.js';
import { type Readiness, ServerWatch } from './server-watch.js';
import { SharedReadiness } from './shared-readiness.js';
import { TransportError } from './transport-error.js';

const connectTimeoutMs = 5_000;
/**
 * Below the idle timeout of common servers, so that they do not close a connection during reuse.
 */
const keepAliveMs = 4_000;
/** Long enough to reuse the probe connection. */
const probeKeepAliveMs = 60_000;
const tcpProbeMs = 15_000;

export interface ServerEvents {
  onHung(server: Server): void;
  onUnready(server: Server): Promise<void>;
}

export class Server {
  readonly url: URL;
  /** Prefix of every request path, without a trailing slash. */
  readonly basePath: string;
  /** Records open requests and streams, and when the server last sent something. */
  readonly watch: ServerWatch;
  /** Not chosen before this moment unless all others rest longer. */
  restUntilMs = 0;
  /** Does not respond: not chosen unless all others hang too. */
  isHung = false;
  private pools: { readonly requests: Requests; readonly streams: Pool };
  private probePool: Pool;
  /** Pools with earlier credentials, whose requests and streams are still open. */
  private readonly retired = new Set<Requests>();
  private tls: TlsCredentials;
  /** Of `tls`, made for the first connection. */
  private secureContext: SecureContext | undefined;
  private readonly shared: SharedReadiness;

  constructor(
    address: string,
    private readonly options: RestClientOptions,
    private readonly clock: Clock,
    random: () => number,
    events: ServerEvents,
  ) {
    this.url = new URL(address);
    if (this.url.protocol !== 'https:' && this.url.protocol !== 'http:') {
      throw new Error(`server ${address} is neither http nor https`);
    }
    this.basePath = this.url.pathname.replace(/\/+$/, '');
    this.tls = { ca: options.ca, clientCertificate: options.clientCertificate };
    this.pools = this.openPools();
    this.probePool = this.openPool(1, probeKeepAliveMs);
    this.shared = SharedReadiness.acquire(clock, this.url.origin);
    this.watch = new ServerWatch({
      clock,
      random,
      shared: this.shared,
      probe: () => this.readiness(),
      onHung: () => events.onHung(this),
      onUnready: () => events.onUnready(this),
    });
  }

  get requests(): Requests {
    return this.pools.requests;
  }

  get streams(): Dispatcher {
    return this.pools.streams;
  }

  /**
   * Probes the server. A status below 500 is the response of a ready server, except 403: a server
   * that has not read its roles yet denies even the probe.
   */
  async readiness(): Promise<Readiness> {
    const abort = new AbortController();
    const response = this.probePool
      .request({ method: 'GET', path: `${this.basePath}/readyz`, signal: abort.signal })
      .then(async ({ statusCode, body }) => {
        await body.dump();
        return statusCode < 500 && statusCode !== 403 ? ('ready' as const) : ('unready' as const);
      });
    try {
      return await withDeadline(
        response,
        limits.probeTimeoutMs,
        `GET ${this.url.origin}`,
        this.clock,
      );
    } catch (error) {
      // The reason does not matter here: requests that fail report it.
      abort.abort(error);
      return 'none';
    }
  }

  /**
   * Presents and verifies other certificates from now on: new requests and streams use new
   * connections, those in flight finish on theirs.
   */
  useTls(tls: TlsCredentials): void {
    this.tls = tls;
    this.secureContext = undefined;
    const old = [this.pools.requests, this.pools.streams, this.probePool];
    this.pools = this.openPools();
    this.probePool = this.openPool(1, probeKeepAliveMs);
    for (const pool of old) this.retire(pool);
  }

  /** Closes the streams, so that their owners open them on another server. */
  closeStreams(reason: string): void {
    const { requests, streams } = this.pools;
    this.pools = { requests, streams: this.openPool(limits.streamCountMax, keepAliveMs) };
    this.destroyRetired(reason);
    void streams.destroy(lost(reason));
  }

  /** Closes requests and streams. The outcome of writes among them is unknown. */
  closeConnections(reason: string): void {
    const { requests, streams } = this.pools;
    this.pools = this.openPools();
    this.destroyRetired(reason);
    void Promise.all([requests.destroy(lost(reason)), streams.destroy(lost(reason))]);
  }

  async close(): Promise<void> {
    this.watch.close();
    this.shared.release();
    const { requests, streams } = this.pools;
    const pools = [requests, streams, this.probePool, ...this.retired];
    const closed = lost('the client is closed');
    await Promise.all(pools.map((pool) => pool.destroy(closed)));
  }

  private retire(pool: Requests): void {
    this.retired.add(pool);
    // A pool that is destroyed meanwhile is closed too.
    const release = () => this.retired.delete(pool);
    pool.close().then(release, release);
  }

  private destroyRetired(reason: string): void {
    for (const pool of this.retired) void pool.destroy(lost(reason));
  }

  private openPools() {
    return {
      requests: this.openRequests(),
      streams: this.openPool(limits.streamCountMax, keepAliveMs),
    };
  }

  private openRequests(): Requests {
    const openPool = () => this.openPool(limits.requestConcurrencyMax, keepAliveMs);
    if (this.url.protocol === 'http:') return openPool();
    const connect = this.connector(true);
    const { hostname, host, port, protocol } = this.url;
    const target = { hostname: hostname.replace(/^\[|\]$/g, ''), host, port, protocol };
    return new Http2Requests({
      url: this.url,
      connect: () =>
        new Promise((resolve, reject) => {
          connect(target, (error, socket) => {
            if (error) reject(error);
            else resolve(socket as TLSSocket);
          });
        }),
      openPool,
    });
  }

  /** No timeouts here: the client enforces the deadline of each request. */
  private openPool(connections: number, keepAliveTimeout: number): Pool {
    return new Pool(this.url.origin, {
      connections,
      bodyTimeout: 0,
      headersTimeout: 0,
      keepAliveTimeout,
      connect: this.connector(false),
    });
  }

  private connector(allowH2: boolean): buildConnector.connector {
    const { origin, protocol } = this.url;
    let connector: buildConnector.connector | undefined;
    const newConnector = () =>
      buildConnector({
        timeout: connectTimeoutMs,
        keepAlive: true,
        keepAliveInitialDelay: tcpProbeMs,
        allowH2,
        ...(protocol === 'https:' ? this.tlsOptions() : {}),
      });
    return (target, callback) => {
      const fail = (error: unknown) => callback(connectFailure(error as Error, origin), null);
      try {
        connector ??= newConnector();
      } catch (error) {
        // The credentials cannot be parsed.
        return fail(error);
      }
      connector(target, (...[error, socket]) => {
        // A failure here, including TLS, precedes the request.
        if (error) fail(error);
        else callback(null, socket);
      });
    };
  }

  private tlsOptions() {
    const { tlsServerName, insecureSkipTlsVerify } = this.options;
    const { ca, clientCertificate: pair } = this.tls;
    // Made once: it costs several times as much as an attempt to connect to a server that is down.
    this.secureContext ??= createSecureContext({
      ...(ca && { ca }),
      ...(pair && { cert: pair.certificate, key: pair.key }),
    });
    return {
      secureContext: this.secureContext,
      ...(tlsServerName && expectingName(tlsServerName)),
      rejectUnauthorized: !insecureSkipTlsVerify,
    };
  }
}

function connectFailure(error: Error, origin: string): TransportError {
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  const cause = error.message === '' ? code : error.message;
  const message = `cannot connect to ${origin}: ${cause}`;
  return new TransportError('connect_failed', message, false, { cause: error });
}

function lost(reason: string): TransportError {
  return new TransportError('connection_lost', reason, true);
}
