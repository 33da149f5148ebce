/**
 * The kept connections to one webhook, and to the servers that it redirects to. Each has one
 * request at a time; a request that finds none idle opens another. A connection that failed is
 * never used again.
 */
import type { Client } from 'undici';
import { webhookIdleConnectionMs, webhookIdleConnectionsMax } from '../limits.js';
import {
  ConnectionClosedError,
  type ExchangeRequest,
  type ExchangeResponse,
  exchange,
} from './exchange.js';
import { ServerSocket, type SocketOptions } from './server-socket.js';

interface Connection {
  readonly origin: string;
  readonly client: Client;
  isOpen: boolean;
  /** Ends the connection in every state, also while it is being opened. */
  readonly close: () => void;
}

export class ConnectionPool {
  private readonly all = new Set<Connection>();
  /** The last one was used last. */
  private readonly idle: Connection[] = [];
  private isRetired = false;

  constructor(private readonly options: SocketOptions) {}

  /**
   * Sends a request to the server of its URL. A kept connection that the server closes before its
   * first byte is replaced: the server had not read the request. Rejects as `exchange`.
   */
  async exchange(request: ExchangeRequest): Promise<ExchangeResponse> {
    const { origin } = request.url;
    const kept = this.takeIdle(origin);
    if (kept) {
      try {
        return await this.exchangeOn(kept, request);
      } catch (error) {
        if (!(error instanceof ConnectionClosedError) || error.isAnswered) throw error;
      }
    }
    return this.exchangeOn(await this.open(origin), request);
  }

  /** Closes the idle connections now, and each of the others after its request. */
  retire(): void {
    this.isRetired = true;
    for (const connection of this.idle.splice(0)) this.end(connection);
  }

  /** Closes all connections. */
  close(): void {
    this.retire();
    for (const connection of this.all) this.end(connection);
  }

  private takeIdle(origin: string): Connection | undefined {
    const index = this.idle.findLastIndex((connection) => connection.origin === origin);
    return index < 0 ? undefined : this.idle.splice(index, 1)[0];
  }

  private async exchangeOn(
    connection: Connection,
    request: ExchangeRequest,
  ): Promise<ExchangeResponse> {
    try {
      const response = await exchange(connection.client, request);
      this.keep(connection);
      return response;
    } catch (error) {
      this.end(connection);
      throw error;
    }
  }

  private keep(connection: Connection): void {
    const isKept =
      connection.isOpen && !this.isRetired && this.idle.length < webhookIdleConnectionsMax;
    if (isKept) this.idle.push(connection);
    else this.end(connection);
  }

  /** The server, or the limit of the idle time, closed the connection. */
  private closed(connection: Connection): void {
    connection.isOpen = false;
    const index = this.idle.indexOf(connection);
    if (index < 0) return;
    this.idle.splice(index, 1);
    this.end(connection);
  }

  private end(connection: Connection): void {
    this.all.delete(connection);
    connection.close();
  }

  private async open(origin: string): Promise<Connection> {
    // Loaded only by processes that call webhooks.
    const { Client } = await import('undici');
    const socket = new ServerSocket(origin, this.options);
    const client = new Client(origin, {
      // The signal of each request ends it.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: webhookIdleConnectionMs,
      connect: (server, opened) => {
        socket.open(server).then(
          (stream) => opened(null, stream),
          (error: Error) => opened(error, null),
        );
      },
    });
    const close = () => {
      socket.close();
      void client.destroy();
    };
    const connection: Connection = { origin, client, isOpen: true, close };
    client.on('disconnect', () => this.closed(connection));
    client.on('connect', () => {
      connection.isOpen = true;
    });
    this.all.add(connection);
    return connection;
  }
}
