/**
 * One machine of the simulated cluster: a disk that stays, and the processes that run on it one
 * after the other: the real replica and the real store on a clock, a disk and a network that are
 * not.
 */
import type { Logger, LoopClock, Timer } from '@orch/component';
import type { Disk, LogObserver, ReplicatedLog, SimNetwork } from '@orch/raft';
import { SimDisk, type SimDiskFaults } from '@orch/raft';
import { createInThreadStore, type ReplicatedStore } from '@orch/store';
import type { Endpoint } from './client.js';
import { NodeClock } from './node-clock.js';
import { observeCommits, observeStore } from './node-observers.js';
import type { Post } from './post.js';
import type { Random } from './random.js';
import type { SimLoop } from './sim-loop.js';
import type { Truth } from './truth.js';
import type { Tuning } from './tuning.js';

export interface NodeIdentity {
  readonly name: string;
  readonly peerUrl: string;
  readonly initialMembers: readonly { readonly name: string; readonly peerUrl: string }[];
  readonly initialState: 'new' | 'join';
  readonly clusterToken: string;
}

export interface NodeSurroundings {
  readonly loop: SimLoop;
  readonly network: SimNetwork;
  readonly post: Post;
  readonly truth: Truth;
  readonly tuning: Tuning;
  /** The process has ended by itself, or could not start. */
  readonly onFatal: (node: SimNode, error: Error) => void;
  readonly onProcessEnd: (node: SimNode) => void;
  readonly trace: (text: string) => void;
}

/** As the processes of one machine see the time: that of the process that runs now. */
class MachineClock implements LoopClock {
  constructor(public current: NodeClock) {}
  nowMs = () => this.current.nowMs();
  monotonicMs = () => this.current.monotonicMs();
  nextTurn = () => this.current.nextTurn();
  setTimer = (delayMs: number, callback: () => void): Timer =>
    this.current.setTimer(delayMs, callback);
}

export class SimNode implements Endpoint {
  readonly disk: SimDisk;
  readonly dataDirectory: string;
  clock: NodeClock;
  /** Undefined while no process runs, or it has not opened its store. */
  store: ReplicatedStore | undefined;
  log: ReplicatedLog | undefined;
  /** Why the last start was refused; an operator must replace the member. */
  broken: string | undefined;
  isRunning = false;
  isApart = false;
  /** Called once, when it next learns who else leads. */
  onNextFollowing: (() => void) | undefined;
  /** How long its state takes to apply a delivery; 0: no time. */
  applyMs = 0;
  private readonly machineClock: MachineClock;
  private life = 0;
  private pauseTimer: { cancel(): void } | undefined;

  constructor(
    readonly identity: NodeIdentity,
    private readonly random: Random,
    private readonly around: NodeSurroundings,
    diskFaults: Partial<SimDiskFaults>,
  ) {
    this.clock = this.newClock();
    this.machineClock = new MachineClock(this.clock);
    this.dataDirectory = `/${identity.name}`;
    this.disk = new SimDisk({
      clock: this.machineClock,
      random: random.fork('disk').next,
      faults: diskFaults,
    });
  }

  get name(): string {
    return this.identity.name;
  }

  /** It takes itself for the leader. */
  get leads(): boolean {
    return this.store !== undefined && this.log?.status().role === 'leader';
  }

  /** Starts a process; resolves when its store is open or has been refused. */
  async start(): Promise<void> {
    const { loop, network, post, truth, trace } = this.around;
    this.life += 1;
    const life = this.life;
    this.isRunning = true;
    this.clock = this.newClock();
    this.machineClock.current = this.clock;
    trace(`${this.name} starts`);
    const { store, log } = createInThreadStore({
      dataDirectory: this.dataDirectory,
      disk: diskOf(this.disk, () => life === this.life),
      clock: this.clock,
      random: this.random.fork(`process ${life}`).next,
      logger: silent,
      identity: {
        memberName: this.name,
        peerUrl: this.identity.peerUrl,
        clientUrl: `https://${this.name}:6443`,
        initialMembers: this.identity.initialMembers,
        initialState: this.identity.initialState,
        clusterToken: this.identity.clusterToken,
      },
      tuning: this.around.tuning.replica,
      options: this.around.tuning.store,
      transport: post.serve(this, network.transport(this.identity.peerUrl, { clock: this.clock })),
      logObserver: this.observer(),
      onFatal: (error) => {
        if (life !== this.life || !this.isRunning) return;
        trace(`${this.name} fails: ${error.message}`);
        // The process ends after it has reported; its operations are aborted.
        loop.after(0, () => {
          if (life !== this.life) return;
          this.around.onFatal(this, error);
        });
      },
    });
    this.log = log;
    observeCommits(this, log, truth, loop);
    try {
      await store.start();
    } catch (error) {
      if (life !== this.life) return;
      this.broken = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      trace(`${this.name} is refused: ${this.broken}`);
      this.around.onFatal(this, error instanceof Error ? error : new Error(String(error)));
      return;
    }
    if (life !== this.life) return;
    this.store = store;
    this.broken = undefined;
    const isCurrent = () => life === this.life && this.store === store;
    observeStore(this.name, store, truth, loop, isCurrent);
    trace(`${this.name} runs at ${store.revision()}`);
  }

  /** The process has ended; `machine`: its unsynced data is lost as well. */
  crash({ machine }: { readonly machine: boolean }): void {
    if (!this.isRunning) return;
    this.around.trace(`${this.name} ends${machine ? ' with its machine' : ''}`);
    this.life += 1;
    this.isRunning = false;
    this.resume();
    this.clock.kill();
    this.disk.crash({ machine });
    this.around.network.crash(this.identity.peerUrl);
    this.around.post.forget(this);
    this.store = undefined;
    this.log = undefined;
    this.around.onProcessEnd(this);
  }

  pause(forMs: number): void {
    const { loop, network } = this.around;
    if (this.clock.isPaused) return;
    this.around.trace(`${this.name} pauses for ${forMs.toFixed(0)} ms`);
    this.clock.pauseUntil(loop.nowMs + forMs);
    network.pause(this.identity.peerUrl);
    this.pauseTimer = loop.after(forMs, () => this.resume());
  }

  private resume(): void {
    this.pauseTimer?.cancel();
    this.pauseTimer = undefined;
    this.around.network.resume(this.identity.peerUrl);
  }

  private follows(): void {
    const told = this.onNextFollowing;
    this.onNextFollowing = undefined;
    told?.();
  }

  private newClock(): NodeClock {
    const { random } = this;
    const { clockRate } = this.around.tuning;
    return new NodeClock(
      this.around.loop,
      1 + random.between(-clockRate, clockRate),
      random.between(-1, 1) * this.around.tuning.wallSpreadMs,
      random.between(0, 1_000_000),
    );
  }

  private observer(): LogObserver {
    const { truth, trace } = this.around;
    const nothing = () => undefined;
    return {
      synced: nothing,
      committed: nothing,
      refused: nothing,
      roundTrip: nothing,
      snapshotBytes: nothing,
      snapshotEnded: (direction, peer, succeeded) =>
        trace(`${this.name} snapshot ${direction} ${peer} ${succeeded}`),
      loopDelayed: nothing,
      leadershipChanged: ({ role, term, leader }) => {
        if (role !== 'leader' && leader !== undefined) this.follows();
        if (role === 'candidate') truth.stands(this.name);
        if (role !== 'leader') return;
        trace(`${this.name} leads term ${term}`);
        truth.leads(this.name, term);
      },
    };
  }
}

const silent = Object.fromEntries(
  ['debug', 'info', 'warn', 'error', 'fatal'].map((level) => [level, () => undefined]),
) as unknown as Logger;
Object.assign(silent, { child: () => silent });

/** A disk as one process has it: its operations after its end never run. */
function diskOf(disk: SimDisk, isAlive: () => boolean): Disk {
  const alive = <Result>(work: () => Promise<Result>): Promise<Result> =>
    isAlive() ? work() : new Promise(() => undefined);
  return {
    openDatabase: (...given) => alive(() => disk.openDatabase(...given)),
    exists: (path) => alive(() => disk.exists(path)),
    replaceDirectory: (from, to) => alive(() => disk.replaceDirectory(from, to)),
    removeDirectory: (path) => alive(() => disk.removeDirectory(path)),
    sizeOf: (path) => alive(() => disk.sizeOf(path)),
    openMark: (file) => alive(() => disk.openMark(file)),
  };
}
