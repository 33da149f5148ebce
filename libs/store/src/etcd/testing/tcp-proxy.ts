/** A connection between store and etcd that a test can cut and mend. */
import { connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy {
  readonly #sockets = new Set<Socket>();
  #cut = false;

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
    server.on('connection', (near) => proxy.#join(near, connect(Number(port), hostname)));
    return proxy;
  }

  /** Ends what is connected and lets nobody in. */
  cut(): void {
    this.#cut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#cut = false;
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }

  #join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      // The end of one is the end of both, whatever its reason.
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
    if (this.#cut) near.destroy();
  }
}
