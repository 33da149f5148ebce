/**
 * Sends all requests to a server over one HTTP/2 connection. Requests of the same turn arrive there
 * together, and the server commits them and responds together, which takes a third less of its CPU
 * time than a connection for each. A server that selects HTTP/1.1 gets a pool of connections.
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Dispatcher } from 'undici';
import { limits } from '../limits.js';
import { Http2Call } from './http2-call.js';
import { TransportError } from './transport-error.js';

/** As client-go. */
const idleMs = 90_000;
/** Higher: more memory for large lists. Lower: they wait for the network more often. */
const streamWindowBytes = 4 * 1024 * 1024;
const connectionWindowBytes = 16 * 1024 * 1024;

/** What sends the requests to a server: this class, or a pool of undici. */
export interface Requests extends Pick<Dispatcher, 'dispatch'> {
  /** Resolves when all requests are done and the connections closed. */
  close(): Promise<void>;
  /** Fails all requests with the error and closes the connections. */
  destroy(error: Error): Promise<void>;
}

export interface Http2RequestsDependencies {
  readonly url: URL;
  /** Opens a connection that offers HTTP/2 and HTTP/1.1. Rejects with `connect_failed`. */
  readonly connect: () => Promise<TLSSocket>;
  /** For a server that selects HTTP/1.1. */
  readonly openPool: () => Requests;
}

interface Waiting {
  readonly request: Dispatcher.DispatchOptions;
  readonly handler: Dispatcher.DispatchHandler;
}

export class Http2Requests implements Requests {
  private session: ClientHttp2Session | undefined;
  private isConnecting = false;
  private isSending = false;
  /** Requests for which there is no connection yet, or that are beyond the limit. */
  private waiting: Waiting[] = [];
  private readonly calls = new Set<Http2Call>();
  /** Set once the server has selected HTTP/1.1. */
  private pool: Requests | undefined;
  private destroyedBy: Error | undefined;
  private onIdle: (() => void) | undefined;

  constructor(private readonly dependencies: Http2RequestsDependencies) {}

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.pool) return this.pool.dispatch(request, handler);
    this.waiting.push({ request, handler });
    this.sendWaiting();
    return true;
  }

  async close(): Promise<void> {
    if (this.waiting.length > 0 || this.calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.onIdle = resolve;
      });
    }
    this.session?.close();
    await this.pool?.close();
  }

  async destroy(error: Error): Promise<void> {
    // Waiting requests may be repeated, also writes.
    const notSent = new TransportError('connection_lost', error.message, false, { cause: error });
    this.destroyedBy ??= notSent;
    this.failWaiting(notSent);
    for (const call of this.calls) call.fail(error);
    this.session?.destroy();
    await this.pool?.destroy(error);
  }

  private sendWaiting(): void {
    if (this.destroyedBy) this.failWaiting(this.destroyedBy);
    // A request that fails while it is sent calls this again.
    if (this.waiting.length === 0 || this.isSending || this.isConnecting) return;
    // Also closed once the server has announced that it takes no more requests.
    if (!this.session || this.session.closed || this.session.destroyed) {
      void this.connect();
      return;
    }
    this.isSending = true;
    while (this.calls.size < limits.requestConcurrencyMax) {
      const next = this.waiting.shift();
      if (!next) break;
      this.send(this.session, next);
    }
    this.isSending = false;
  }

  private send(session: ClientHttp2Session, { request, handler }: Waiting): void {
    const call = new Http2Call(handler, (done) => this.done(done));
    this.calls.add(call);
    // Only a connection with requests keeps the process running.
    session.ref();
    if (!call.begin()) return;
    const { method, path, headers, body } = request;
    const bytes = typeof body === 'string' ? Buffer.from(body) : (body as Uint8Array | null);
    try {
      const stream = session.request(
        {
          [constants.HTTP2_HEADER_METHOD]: method,
          [constants.HTTP2_HEADER_PATH]: path,
          [constants.HTTP2_HEADER_SCHEME]: 'https',
          [constants.HTTP2_HEADER_AUTHORITY]: this.dependencies.url.host,
          ...(headers as Record<string, string | string[]>),
          ...(bytes && { [constants.HTTP2_HEADER_CONTENT_LENGTH]: bytes.byteLength }),
        },
        { endStream: !bytes },
      );
      call.follow(stream);
      if (bytes) stream.end(bytes);
    } catch (error) {
      // The connection has no stream left, for example: the next request opens another one.
      session.close();
      const { message } = error as Error;
      call.fail(new TransportError('connect_failed', message, false, { cause: error }));
    }
  }

  private done(call: Http2Call): void {
    this.calls.delete(call);
    if (this.calls.size === 0 && this.session?.destroyed === false) this.session.unref();
    this.sendWaiting();
    this.noteIdle();
  }

  private failWaiting(error: Error): void {
    const noCalls = () => {};
    for (const { handler } of this.waiting.splice(0)) new Http2Call(handler, noCalls).fail(error);
    this.noteIdle();
  }

  private noteIdle(): void {
    if (this.waiting.length === 0 && this.calls.size === 0) this.onIdle?.();
  }

  private async connect(): Promise<void> {
    this.isConnecting = true;
    try {
      const socket = await this.dependencies.connect();
      if (this.destroyedBy) socket.destroy();
      else if (socket.alpnProtocol === 'h2') this.session = await this.openSession(socket);
      else this.usePool(socket);
    } catch (error) {
      this.failWaiting(error as Error);
    }
    this.isConnecting = false;
    if (this.destroyedBy) this.session?.destroy();
    this.sendWaiting();
    this.noteIdle();
  }

  /** Resolves when requests can be sent. */
  private openSession(socket: TLSSocket): Promise<ClientHttp2Session> {
    const { url } = this.dependencies;
    return new Promise((resolve, reject) => {
      const session = connect(url, {
        createConnection: () => socket,
        settings: { enablePush: false, initialWindowSize: streamWindowBytes },
      });
      session.once('connect', () => {
        session.setLocalWindowSize(connectionWindowBytes);
        session.unref();
        session.setTimeout(idleMs, () => {
          if (this.calls.size === 0) session.close();
        });
        resolve(session);
      });
      // The requests on it report the reason.
      session.on('error', () => {});
      session.once('close', () => {
        reject(new TransportError('connect_failed', `${url.origin} closed the connection`, false));
      });
    });
  }

  private usePool(socket: TLSSocket): void {
    socket.destroy();
    this.pool = this.dependencies.openPool();
    for (const { request, handler } of this.waiting.splice(0)) this.pool.dispatch(request, handler);
  }
}
