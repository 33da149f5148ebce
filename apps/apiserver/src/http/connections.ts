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
  /** The number of incomplete responses of each HTTP/1.1 connection. */
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

  /** Counts a request until its response is closed. Call for each request. */
  began(response: ServerResponse): void {
    const { socket } = response;
    const count = socket ? this.runningCounts.get(socket) : undefined;
    if (!socket || count === undefined) return;
    this.runningCounts.set(socket, count + 1);
    if (this.closing) response.shouldKeepAlive = false;
    response.once('close', () => this.ended(socket));
  }

  /** Counts an upgraded HTTP/1.1 connection until it is closed. Call for each upgrade. */
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

  /** Accepts no connections, waits up to `graceMs` for running requests, then closes all. */
  async close(graceMs: number): Promise<void> {
    this.closing = true;
    const closed = new Promise<void>((resolve) => {
      Server.prototype.close.call(this.server, () => resolve());
    });
    for (const session of this.sessions) session.close();
    for (const [socket, count] of this.runningCounts) if (count === 0) socket.destroySoon();
    const deadline = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(deadline);
  }
}
