/**
 * The connections to one server: a pool for requests, one for streams, so that watches never take the
 * place of requests, and a connection for asking whether it is there, which waits behind neither.
 */
import { type Clock, withDeadline } from '@orch/component';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import { limits } from '../limits.js';
import type { RestClientOptions } from './rest-types.js';
import { type Readiness, ServerWatch } from './server-watch.js';
import { TransportError } from './transport-error.js';

const connectTimeoutMs = 5_000;
/** Below the idle timeout of common servers, so that they do not close what is about to be used. */
const keepAliveMs = 4_000;
/** The connection for asking is kept from one question to the next. */
const askingKeepAliveMs = 60_000;
const tcpProbeMs = 15_000;

export interface ServerEvents {
  onSilent(server: Server): void;
  onUnready(server: Server): Promise<void>;
}

export class Server {
  readonly url: URL;
  /** Path before every request's, without a slash at its end. */
  readonly basePath: string;
  /** Tells what is open here, and when something was heard. */
  readonly watch: ServerWatch;
  /** Not to be chosen before this moment, unless all others rest longer. */
  restUntilMs = 0;
  private pools: { readonly requests: Pool; readonly streams: Pool };
  private readonly asking: Pool;

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
    this.pools = this.openPools();
    this.asking = this.openPool(1, askingKeepAliveMs);
    this.watch = new ServerWatch({
      clock,
      random,
      ask: () => this.readiness(),
      onSilent: () => events.onSilent(this),
      onUnready: () => events.onUnready(this),
    });
  }

  get requests(): Dispatcher {
    return this.pools.requests;
  }

  get streams(): Dispatcher {
    return this.pools.streams;
  }

  /** Asks the server itself, past everything that waits. Any answer below 500 is one of a ready server. */
  async readiness(): Promise<Readiness> {
    const abort = new AbortController();
    const asked = this.asking
      .request({ method: 'GET', path: `${this.basePath}/readyz`, signal: abort.signal })
      .then(async ({ statusCode, body }) => {
        await body.dump();
        return statusCode < 500 ? ('ready' as const) : ('unready' as const);
      });
    try {
      return await withDeadline(asked, limits.answerMsMax, `GET ${this.url.origin}`, this.clock);
    } catch (error) {
      // Whatever the reason, it did not answer; those who send requests report the reason.
      abort.abort(error);
      return 'none';
    }
  }

  /** Ends the streams, for their owners to open them elsewhere. */
  cutStreams(reason: string): void {
    const { requests, streams } = this.pools;
    this.pools = { requests, streams: this.openPool(limits.streamCountMax, keepAliveMs) };
    void streams.destroy(lost(reason));
  }

  /** Ends requests and streams. The outcome of writes among them is unknown. */
  cutAll(reason: string): void {
    const { requests, streams } = this.pools;
    this.pools = this.openPools();
    void Promise.all([requests.destroy(lost(reason)), streams.destroy(lost(reason))]);
  }

  async close(): Promise<void> {
    this.watch.close();
    const { requests, streams } = this.pools;
    await Promise.all([requests.destroy(), streams.destroy(), this.asking.destroy()]);
  }

  private openPools() {
    return {
      requests: this.openPool(this.options.connectionsMax ?? 16, keepAliveMs),
      streams: this.openPool(limits.streamCountMax, keepAliveMs),
    };
  }

  /** Deadlines are kept by the client, which knows what it asked for. */
  private openPool(connections: number, keepAliveTimeout: number): Pool {
    const { origin, protocol } = this.url;
    const connect = buildConnector({
      timeout: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: tcpProbeMs,
      ...(protocol === 'https:' ? tlsOptions(this.options) : {}),
    });
    return new Pool(origin, {
      connections,
      bodyTimeout: 0,
      headersTimeout: 0,
      keepAliveTimeout,
      connect: (target, callback) =>
        connect(target, (...[error, socket]) => {
          // Whatever fails here, TLS included, fails before a request is sent.
          if (error) callback(connectFailure(error, origin), null);
          else callback(null, socket);
        }),
    });
  }
}

function connectFailure(error: Error, origin: string): TransportError {
  const { code = 'no reason given' } = error as NodeJS.ErrnoException;
  const cause = error.message === '' ? code : error.message;
  const message = `cannot connect to ${origin}: ${cause}`;
  return new TransportError('connect_failed', message, false, { cause: error });
}

function lost(reason: string): TransportError {
  return new TransportError('connection_lost', reason, true);
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
