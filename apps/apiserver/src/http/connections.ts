/**
 * The open connections of the server and their running requests, so that the shutdown neither waits
 * for idle clients nor truncates responses. Node's own close treats an HTTP/1.1 connection as idle
 * when the response has been written, and destroys it with the bytes that have not been sent.
 */
import type { ServerResponse } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import { Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

export class Connections {
  private readonly sockets = new Set<Socket>();
  private readonly sessions = new Set<ServerHttp2Session>();
  /** The last response of each HTTP/1.1 connection: when it closes, all before it have closed. */
  private readonly lastResponses = new Map<Socket, ServerResponse | 'none' | 'upgraded'>();
  private closing = false;

  constructor(private readonly server: Http2SecureServer) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') return;
      this.lastResponses.set(socket, 'none');
      socket.once('close', () => this.lastResponses.delete(socket));
      if (this.closing) socket.destroySoon();
    });
    server.on('session', (session) => {
      this.sessions.add(session);
      session.once('close', () => this.sessions.delete(session));
      if (this.closing) session.close();
    });
  }

  /** Call for each request. Adds no listener: that would cost more than the rest of it. */
  began(response: ServerResponse): void {
    const { socket } = response.req;
    if (!this.lastResponses.has(socket)) return;
    this.lastResponses.set(socket, response);
    if (!this.closing) return;
    response.shouldKeepAlive = false;
    this.closeAfter(socket, response);
  }

  /** Call for each upgrade of an HTTP/1.1 connection, which is open until it is closed. */
  upgrading(socket: Socket): void {
    if (this.lastResponses.has(socket)) this.lastResponses.set(socket, 'upgraded');
  }

  /** Closes the connection when the response has been sent, unless another one follows. */
  private closeAfter(socket: Socket, response: ServerResponse): void {
    response.once('close', () => {
      if (this.lastResponses.get(socket) === response) socket.destroySoon();
    });
  }

  /** Accepts no connections, waits up to `graceMs` for running requests, then closes all. */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    const closed = new Promise<void>((resolve) => {
      Server.prototype.close.call(this.server, () => resolve());
    });
    for (const session of this.sessions) session.close();
    for (const [socket, last] of this.lastResponses) {
      if (last === 'upgraded') continue;
      if (last === 'none' || last.destroyed) socket.destroySoon();
      else this.closeAfter(socket, last);
    }
    const deadline = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(deadline);
  }
}
