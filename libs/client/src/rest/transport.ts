/**
 * The servers of a cluster, of which one is in use at a time. A client picks its server by chance, so that
 * clients spread, leaves it when it fails, and goes back a while after it is ready again: at a moment of
 * its own, so that a server that returns is not run over, and none stays idle after a rolling restart.
 */
import { type Clock, systemClock, type Timer } from '@orch/component';
import type { RestClientOptions } from './rest-types.js';
import { Server } from './server.js';

/** Between leaving the server of one's own and asking whether to go back. */
const returnAfterMsMin = 60_000;
const returnAfterMsMax = 300_000;
/** How long a silent or unready server is left alone. */
const failedRestMs = 5_000;
/** Clients that lose a server together do not arrive at the next one together. */
const moveSpreadMs = 50;

export class Transport {
  private readonly servers: readonly Server[];
  /** The one that is gone back to. */
  private readonly home: Server;
  private readonly clock: Clock;
  private readonly random: () => number;
  private inUse: Server;
  private returnTimer: Timer | undefined;
  private isClosed = false;

  constructor(options: RestClientOptions) {
    if (options.servers.length === 0) throw new Error('a client needs at least one server');
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    const events = {
      onSilent: (server: Server) => this.onSilent(server),
      onUnready: (server: Server) => this.onUnready(server),
    };
    this.servers = options.servers.map(
      (address) => new Server(address, options, this.clock, this.random, events),
    );
    this.home = this.oneOf(this.servers);
    this.inUse = this.home;
  }

  get current(): Server {
    return this.inUse;
  }

  get serverCount(): number {
    return this.servers.length;
  }

  /** Leaves `failed` alone for `restMs` and, if it is in use, chooses the server that rests the least. */
  moveOn(failed: Server, restMs: number): void {
    failed.restUntilMs = this.clock.monotonicMs() + restMs;
    if (this.inUse === failed) this.use(this.leastResting());
  }

  /** How long to wait before a request that failed at `failed` is sent to the server in use now. */
  waitMs(failed: Server): number {
    const restMs = Math.max(0, this.inUse.restUntilMs - this.clock.monotonicMs());
    return this.inUse === failed ? restMs : restMs + moveSpreadMs * this.random();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.returnTimer?.cancel();
    await Promise.all(this.servers.map((server) => server.close()));
  }

  private leastResting(): Server {
    const nowMs = this.clock.monotonicMs();
    const restOf = (server: Server) => Math.max(nowMs, server.restUntilMs);
    const leastMs = Math.min(...this.servers.map(restOf));
    return this.oneOf(this.servers.filter((server) => restOf(server) === leastMs));
  }

  private oneOf(servers: readonly Server[]): Server {
    return servers[Math.floor(this.random() * servers.length) % servers.length]!;
  }

  private use(server: Server): void {
    this.inUse = server;
    if (server !== this.home) this.returnLater();
  }

  private returnLater(): void {
    if (this.returnTimer || this.isClosed) return;
    const spreadMs = (returnAfterMsMax - returnAfterMsMin) * this.random();
    this.returnTimer = this.clock.setTimer(returnAfterMsMin + spreadMs, () => {
      void this.returnIfReady();
    });
  }

  /** Open streams stay where they are until they end; what begins from now on begins at home. */
  private async returnIfReady(): Promise<void> {
    const isReady = (await this.home.readiness()) === 'ready';
    this.returnTimer = undefined;
    if (this.isClosed || this.inUse === this.home) return;
    if (isReady) this.use(this.home);
    else this.returnLater();
  }

  private onSilent(server: Server): void {
    this.moveOn(server, failedRestMs);
    server.cutAll(`${server.url.origin} does not answer`);
  }

  /** Streams go elsewhere only when there is a server that is better off. */
  private async onUnready(server: Server): Promise<void> {
    const others = this.servers.filter((other) => other !== server);
    const answers = await Promise.all(others.map((other) => other.readiness()));
    const ready = others.filter((_other, index) => answers[index] === 'ready');
    if (ready.length === 0 || this.isClosed) return;
    server.restUntilMs = this.clock.monotonicMs() + failedRestMs;
    if (this.inUse === server) this.use(this.oneOf(ready));
    server.cutStreams(`${server.url.origin} is not ready and another server is`);
  }
}
