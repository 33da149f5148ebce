/**
 * Open connections of the server and what runs on them, so that its end need not wait for clients that
 * stay and yet cuts no answer short. Node's own close takes an HTTP/1.1 connection for idle as soon as
 * the last of its answer is written, and destroys it with what has not left yet.
 */
import type { ServerResponse } from 'node:http';
import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import { Server, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

export class Connections {
  private readonly sockets = new Set<Socket>();
  private readonly sessions = new Set<ServerHttp2Session>();
  /** Of HTTP/1.1: how many requests of each connection are not answered to the last byte. */
  private readonly runningCounts = new Map<Socket, number>();
  private closing = false;

  constructor(private readonly server: Http2SecureServer) {
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') return;
      this.runningCounts.set(socket, 0);
      socket.once('close', () => this.runningCounts.delete(socket));
      if (this.closing) socket.destroySoon();
    });
    server.on('session', (session) => {
      this.sessions.add(session);
      session.once('close', () => this.sessions.delete(session));
      if (this.closing) session.close();
    });
  }

  /** To be told of every request. */
  began(response: ServerResponse): void {
    const { socket } = response;
    const count = socket ? this.runningCounts.get(socket) : undefined;
    if (!socket || count === undefined) return;
    this.runningCounts.set(socket, count + 1);
    if (this.closing) response.shouldKeepAlive = false;
    response.once('close', () => this.ended(socket));
  }

  /** To be told of every connection that may leave HTTP/1.1: it runs until it is closed. */
  upgrading(socket: Socket): void {
    const count = this.runningCounts.get(socket);
    if (count !== undefined) this.runningCounts.set(socket, count + 1);
  }

  private ended(socket: Socket): void {
    const count = this.runningCounts.get(socket);
    if (count === undefined) return;
    this.runningCounts.set(socket, count - 1);
    if (this.closing && count === 1) socket.destroySoon();
  }

  /** Takes no more connections, lets running requests end within `graceMs`, then cuts. */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    const closed = new Promise<void>((resolve) => {
      Server.prototype.close.call(this.server, () => resolve());
    });
    for (const session of this.sessions) session.close();
    for (const [socket, count] of this.runningCounts) if (count === 0) socket.destroySoon();
    const cut = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(cut);
  }
}
