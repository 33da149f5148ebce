/**
 * TCP between real replicas, with faults: every member's advertised peer address is a port of this
 * proxy, which forwards to the member's listener. All members have the same IP address, so that
 * callers are identified by the process that owns the other end of a connection. Conditions apply
 * to each direction of each pair, at any time, also to open connections.
 *
 *   const proxy = new FaultProxy();
 *   // The port to advertise for b.
 *   const port = await proxy.listen('b', { host: '127.0.0.1', port: 7002 });
 *   // Again after each restart.
 *   proxy.identify('a', pidOfA);
 *   // From a to b.
 *   proxy.between('a', 'b').set({ delayMs: 75, jitterMs: 50 });
 *   proxy.block('a', 'b');
 *   proxy.heal();
 *   await proxy.close();
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Conditions, FaultPipe } from './fault-pipe.js';
import { inodeOf, ownsSocket } from './socket-owner.js';

const anyMember = '*';

export interface FaultProxyOptions {
  /** Uniform in [0, 1), for jitter. */
  readonly random?: () => number;
}

export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

interface Connection {
  readonly from: string;
  readonly to: string;
  readonly reset: () => void;
}

export class FaultProxy {
  private readonly servers = new Map<string, Server>();
  private readonly conditions = new Map<string, Conditions>();
  private readonly connections = new Set<Connection>();
  private readonly pids = new Map<number, string>();
  private readonly random: () => number;

  constructor({ random = Math.random }: FaultProxyOptions = {}) {
    this.random = random;
  }

  /** Resolves with the proxy port of `member`, which listens on `target`. */
  async listen(member: string, target: ProxyTarget, port = 0): Promise<number> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      this.accept(member, target, socket).catch((error) => socket.destroy(error));
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    this.servers.set(member, server);
    return (server.address() as AddressInfo).port;
  }

  /** Connections of process `pid` belong to `member`. */
  identify(member: string, pid: number): void {
    this.pids.set(pid, member);
  }

  /** Returns the conditions from `from` to `to`. `*` as `from`: callers that are not identified. */
  between(from: string, to: string): Conditions {
    const key = `${from}>${to}`;
    let conditions = this.conditions.get(key);
    if (!conditions) {
      conditions = new Conditions();
      this.conditions.set(key, conditions);
    }
    return conditions;
  }

  /** Blocks all data from `from` to `to`, on any connection. */
  block(from: string, to: string): void {
    this.between(from, to).set({ isBlackHole: true });
  }

  /** Blocks all data between members of different groups. */
  partition(groups: readonly (readonly string[])[]): void {
    for (const group of groups) {
      for (const other of groups) {
        if (group === other) continue;
        for (const from of group) for (const to of other) this.block(from, to);
      }
    }
  }

  /** Ends black holes and refusals; delays and bandwidth stay. */
  heal(): void {
    for (const conditions of this.conditions.values()) {
      conditions.set({ isBlackHole: false, isRefusing: false });
    }
  }

  /** Resets the open connections between two members, or all. Returns how many. */
  drop(first = anyMember, second = anyMember): number {
    const matches = (name: string, wanted: string) => wanted === anyMember || name === wanted;
    let count = 0;
    for (const { from, to, reset } of this.connections) {
      const isSelected =
        (matches(from, first) && matches(to, second)) ||
        (matches(from, second) && matches(to, first));
      if (!isSelected) continue;
      reset();
      count += 1;
    }
    return count;
  }

  /** Returns the open connections as `from>to`. */
  get open(): string[] {
    return [...this.connections].map(({ from, to }) => `${from}>${to}`);
  }

  async close(): Promise<void> {
    this.drop();
    await Promise.all(
      [...this.servers.values()].map((server) => new Promise((resolve) => server.close(resolve))),
    );
  }

  private async accept(to: string, target: ProxyTarget, socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy());
    const from = await this.callerOf(socket);
    const forward = this.between(from, to);
    if (forward.isRefusing || socket.destroyed) {
      socket.resetAndDestroy();
      return;
    }
    const onward = connect({ ...target, allowHalfOpen: true });
    const pipes = [
      new FaultPipe(socket, onward, forward, this.random),
      new FaultPipe(onward, socket, this.between(to, from), this.random),
    ];
    const connection: Connection = {
      from,
      to,
      reset: () => {
        this.connections.delete(connection);
        for (const pipe of pipes) pipe.stop();
        socket.resetAndDestroy();
        onward.resetAndDestroy();
      },
    };
    this.connections.add(connection);
    for (const end of [socket, onward]) {
      end.setNoDelay(true);
      end.on('error', connection.reset);
      end.on('close', connection.reset);
    }
    socket.resume();
  }

  /** Returns the member whose process owns the other end of `socket`. */
  private async callerOf({ remotePort, localPort }: Socket): Promise<string> {
    if (this.pids.size === 0) return anyMember;
    // The connection may be closed already.
    if (remotePort === undefined || localPort === undefined) return anyMember;
    const inode = await inodeOf(remotePort, localPort);
    if (inode === undefined) return anyMember;
    for (const [pid, member] of this.pids) {
      if (await ownsSocket(pid, inode)) return member;
    }
    return anyMember;
  }
}
