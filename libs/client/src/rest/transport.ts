/**
 * The servers of a cluster, one of which is current. A client chooses its server at random, so that
 * clients spread, leaves it when it fails or hangs, and returns some time after it is ready again:
 * at a random moment, so that a recovered server is not overloaded and none stays idle after a
 * rolling restart. Clients that derive from one another share it, so that one failure moves them
 * all.
 */
import { type Clock, systemClock, type Timer } from '@orch/component';
import { Foreground } from './foreground.js';
import type { RestClientOptions, TlsCredentials } from './rest-types.js';
import { Server } from './server.js';

/** How long after leaving the home server the client first checks whether to return. */
const returnAfterMsMin = 60_000;
const returnAfterMsMax = 300_000;
/** How long an unready server is not chosen. */
const unreadyRestMs = 5_000;
/** Pause between probes of a hung server. Higher: it returns later. Lower: more probes. */
const hungProbeMs = 1_000;
/** Clients that lose a server together do not arrive at the next one together. */
const moveSpreadMs = 50;

export class Transport {
  /** The requests that are open, of all clients that share the transport. */
  readonly foreground: Foreground;
  private readonly servers: readonly Server[];
  /** The server to return to. */
  private readonly home: Server;
  private readonly clock: Clock;
  private readonly random: () => number;
  private inUse: Server;
  private returnTimer: Timer | undefined;
  private readonly probeTimers = new Map<Server, Timer>();
  private isClosed = false;

  constructor(options: RestClientOptions) {
    if (options.servers.length === 0) throw new Error('a client needs at least one server');
    this.clock = options.clock ?? systemClock;
    this.random = options.random ?? Math.random;
    this.foreground = new Foreground(this.clock);
    const events = {
      onHung: (server: Server) => this.onHung(server),
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

  /** Presents and verifies other certificates on new connections to all servers. */
  useTls(tls: TlsCredentials): void {
    for (const server of this.servers) server.useTls(tls);
  }

  /**
   * Does not choose `failed` for `restMs`. If it is current, chooses the server that rests the
   * least.
   */
  moveOn(failed: Server, restMs: number): void {
    failed.restUntilMs = this.clock.monotonicMs() + restMs;
    if (this.inUse === failed) this.use(this.leastResting());
  }

  /**
   * Avoids a server on which a request timed out and that has sent nothing since, until it
   * responds to a probe. If it does not respond to the first one either, its connections are
   * closed.
   */
  suspect(server: Server): void {
    if (server.isHung || this.isClosed) return;
    server.isHung = true;
    if (this.inUse === server) this.use(this.leastResting());
    void this.probeHung(server, true);
  }

  /** The pause before a request that failed on `failed` is sent to the current server. */
  waitMs(failed: Server): number {
    const restMs = Math.max(0, this.inUse.restUntilMs - this.clock.monotonicMs());
    return this.inUse === failed ? restMs : restMs + moveSpreadMs * this.random();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.returnTimer?.cancel();
    for (const timer of this.probeTimers.values()) timer.cancel();
    await Promise.all(this.servers.map((server) => server.close()));
  }

  private leastResting(): Server {
    const nowMs = this.clock.monotonicMs();
    const responding = this.servers.filter((server) => !server.isHung);
    const candidates = responding.length > 0 ? responding : this.servers;
    const restOf = (server: Server) => Math.max(nowMs, server.restUntilMs);
    const leastMs = Math.min(...candidates.map(restOf));
    return this.oneOf(candidates.filter((server) => restOf(server) === leastMs));
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

  /**
   * Open streams stay on their server until they end; new requests and streams use the home server.
   */
  private async returnIfReady(): Promise<void> {
    const isReady = (await this.home.readiness()) === 'ready';
    this.returnTimer = undefined;
    if (this.isClosed || this.inUse === this.home) return;
    if (isReady) this.use(this.home);
    else this.returnLater();
  }

  private onHung(server: Server): void {
    if (this.isClosed) return;
    const isNew = !server.isHung;
    server.isHung = true;
    if (this.inUse === server) this.use(this.leastResting());
    server.closeConnections(`${server.url.origin} does not respond`);
    if (isNew) this.probeHungLater(server);
  }

  private probeHungLater(server: Server): void {
    const timer = this.clock.setTimer(hungProbeMs, () => void this.probeHung(server, false));
    this.probeTimers.set(server, timer);
  }

  private async probeHung(server: Server, isFirst: boolean): Promise<void> {
    const readiness = await server.readiness();
    if (this.isClosed) return;
    if (readiness !== 'none') {
      this.probeTimers.delete(server);
      server.isHung = false;
      return;
    }
    if (isFirst) server.closeConnections(`${server.url.origin} does not respond`);
    this.probeHungLater(server);
  }

  /** Moves streams only if another server is ready. */
  private async onUnready(server: Server): Promise<void> {
    const others = this.servers.filter((other) => other !== server);
    const readiness = await Promise.all(others.map((other) => other.readiness()));
    const ready = others.filter((_other, index) => readiness[index] === 'ready');
    if (ready.length === 0 || this.isClosed) return;
    server.restUntilMs = this.clock.monotonicMs() + unreadyRestMs;
    if (this.inUse === server) this.use(this.oneOf(ready));
    server.closeStreams(`${server.url.origin} is not ready and another server is`);
  }
}
