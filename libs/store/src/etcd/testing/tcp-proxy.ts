/** A proxy between store and etcd that a test can disconnect and reconnect. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  private readonly sockets = new Set<Socket>();
  private isDisconnected = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async to(target: string): Promise<TcpProxy> {
    const { hostname, port, protocol } = new URL(target);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address !== 'object' || !address) throw new Error('the proxy has no address');
    const proxy = new TcpProxy(server, `${protocol}//127.0.0.1:${address.port}`);
    server.on('connection', (near) => proxy.join(near, connect(Number(port), hostname)));
    return proxy;
  }

  /** Closes all connections and refuses new ones. */
  disconnect(): void {
    this.isDisconnected = true;
    for (const socket of this.sockets) socket.destroy();
  }

  reconnect(): void {
    this.isDisconnected = false;
  }

  async close(): Promise<void> {
    this.disconnect();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  private join(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(socket);
      // The end of one socket ends both.
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
    if (this.isDisconnected) near.destroy();
  }
}
