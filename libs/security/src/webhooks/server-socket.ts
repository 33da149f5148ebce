/**
 * The socket of one HTTP/1.1 connection to a webhook: direct or through a `Dial`, plain or with TLS
 * inside. `close` ends it in every state, also while it is being opened.
 */
import { type Socket, connect as tcpConnect } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as tlsConnect } from 'node:tls';
import { type Dial, type DialAddress, expectingName } from '@orch/component';
import type { buildConnector } from 'undici';

export interface SocketOptions {
  /** Of `https` servers. A `servername` replaces the name in the URL. */
  readonly tls: Pick<
    ConnectionOptions,
    'ca' | 'cert' | 'key' | 'servername' | 'checkServerIdentity' | 'rejectUnauthorized'
  >;
  /** The addresses of the servers that do not listen at the host and port of their URL. */
  readonly addresses?: ReadonlyMap<string, DialAddress>;
  /** Absent: connections are direct. */
  readonly dial?: Dial | undefined;
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

export class ServerSocket {
  private socket: Duplex | undefined;
  private isClosed = false;

  constructor(
    private readonly origin: string,
    private readonly options: SocketOptions,
  ) {}

  /** Rejects with the reason why the socket could not be opened. */
  async open(server: buildConnector.Options): Promise<Socket> {
    const { dial, addresses } = this.options;
    const { protocol, hostname, port } = server;
    const address = addresses?.get(this.origin) ?? {
      host: hostname,
      port: Number(port) || (defaultPorts[protocol] as number),
    };
    const stream = await dial?.(address);
    this.socket = stream;
    if (this.isClosed) {
      stream?.destroy();
      throw new Error('the connection was closed');
    }
    const isTls = protocol === 'https:';
    if (isTls) this.socket = this.secure(address, server.servername || hostname, stream);
    const socket = this.socket ?? tcpConnect({ ...address, noDelay: true });
    this.socket = socket;
    if (socket !== stream) await opened(socket, isTls ? 'secureConnect' : 'connect');
    return withoutConnectionHeader(socket);
  }

  close(): void {
    this.isClosed = true;
    this.socket?.destroy();
  }

  /** `name`: the one that the certificate must have. */
  private secure(address: DialAddress, name: string, stream: Duplex | undefined): Duplex {
    return tlsConnect({
      ...address,
      ALPNProtocols: ['http/1.1'],
      ...(this.options.tls.servername === undefined && expectingName(name)),
      ...this.options.tls,
      ...(stream ? { socket: stream as Socket } : { noDelay: true }),
    });
  }
}

/** Errors of the opened socket are those of its user. */
function opened(socket: Duplex, event: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, resolve);
    socket.once('error', reject);
  });
}

const header = '\r\nconnection: keep-alive\r\n';

/**
 * Leaves `Connection: keep-alive` out of requests, which undici always sends and upstream does not:
 * connections of HTTP/1.1 persist without it. Undici writes heads as text, bodies as buffers.
 */
function withoutConnectionHeader(socket: Duplex): Socket {
  const write = socket.write.bind(socket) as (chunk: unknown, ...rest: unknown[]) => boolean;
  socket.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? chunk.replace(header, '\r\n') : chunk, ...rest);
  return socket as Socket;
}
