/** A proxy for tests that opens connections with HTTP CONNECT. */
import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';

export class ConnectProxy {
  /** The requested addresses. */
  readonly targets: string[] = [];
  /** The status of every response; other than 200, no connection is opened. */
  statusCode = 200;
  private readonly open = new Set<Duplex>();

  private constructor(private readonly server: Server) {
    server.on('connect', (request, socket: Duplex) => {
      this.targets.push(request.url ?? '');
      this.track(socket);
      if (this.statusCode !== 200) {
        socket.end(`HTTP/1.1 ${this.statusCode} Refused\r\n\r\n`);
        return;
      }
      const target = new URL(`http://${request.url}`);
      const upstream = connect(Number(target.port), target.hostname, () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.once('error', () => socket.end('HTTP/1.1 502 Unreachable\r\n\r\n'));
      this.track(upstream);
    });
  }

  /** Listens on a port of 127.0.0.1, or at the path of a socket; with TLS if `tls` is given. */
  static async listen(path?: string, tls?: ServerOptions): Promise<ConnectProxy> {
    const server = tls ? createHttpsServer(tls) : createHttpServer();
    if (path === undefined) server.listen(0, '127.0.0.1');
    else server.listen(path);
    await once(server, 'listening');
    return new ConnectProxy(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private track(socket: Duplex): void {
    this.open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.open.delete(socket));
  }
}
