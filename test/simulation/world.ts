/** The simulated cluster: its machines and clients, and their settings drawn from the seed. */
import { SimNetwork } from '@orch/raft';
import { type ClientNotes, SimClient } from './client.js';
import { Post } from './post.js';
import type { Random } from './random.js';
import { SimLoop } from './sim-loop.js';
import { SimNode } from './sim-node.js';
import { Truth } from './truth.js';
import { drawTuning, type Tuning } from './tuning.js';
import { SimWatcher } from './watcher.js';

const token = 'simulation';

export class World {
  readonly loop = new SimLoop();
  readonly truth = new Truth();
  readonly network: SimNetwork;
  readonly post: Post;
  readonly tuning: Tuning;
  readonly nodes: SimNode[] = [];
  readonly notes: ClientNotes = { writes: [], reads: [], faults: [] };
  readonly watchers: SimWatcher[] = [];
  /**
   * Unexpected ends of processes: broken invariants and everything else that has no cause in a
   * fault.
   */
  readonly failures: string[] = [];
  onFatal: (node: SimNode, error: Error) => void = () => undefined;
  private readonly clients: SimClient[] = [];
  private traceHash = 0x811c9dc5;

  constructor(
    readonly random: Random,
    private readonly show: ((line: string) => void) | undefined,
    /** Members of the new cluster; drawn if not given. */
    memberCount: number | undefined,
    tuning: Tuning | undefined,
  ) {
    const drawnTuning = drawTuning(random.fork('tuning'));
    this.tuning = tuning ?? drawnTuning;
    const clock = {
      nowMs: () => this.loop.nowMs,
      monotonicMs: () => this.loop.nowMs,
      setTimer: (delayMs: number, callback: () => void) => this.loop.after(delayMs, callback),
    };
    this.network = new SimNetwork({ clock, random: random.fork('network').next });
    this.post = new Post(this.loop, random.fork('post'));
    const drawn = random.fork('size').pick([1, 3, 3, 3, 3, 5]);
    const members = Array.from({ length: memberCount ?? drawn }, (_, at) => ({
      name: `n${at + 1}`,
      peerUrl: `https://n${at + 1}:6480`,
    }));
    for (const { name, peerUrl } of members) {
      this.addNode({ name, peerUrl, initialMembers: members, initialState: 'new' });
    }
  }

  addNode(identity: {
    name: string;
    peerUrl: string;
    initialMembers: readonly { name: string; peerUrl: string }[];
    initialState: 'new' | 'join';
  }): SimNode {
    const node = new SimNode(
      { ...identity, clusterToken: token },
      this.random.fork(identity.name),
      {
        loop: this.loop,
        network: this.network,
        post: this.post,
        truth: this.truth,
        tuning: this.tuning,
        onFatal: (failed, error) => this.onFatal(failed, error),
        onProcessEnd: (ended) => {
          for (const watcher of this.watchers) watcher.lost(ended);
        },
        trace: (text) => this.trace(text),
      },
      {},
    );
    this.nodes.push(node);
    return node;
  }

  startClients(clientCount: number, watcherCount: number, prefix = 'c'): void {
    const { loop, notes, nodes } = this;
    const random = this.random.fork('clients');
    for (let at = 0; at < clientCount; at += 1) {
      const name = `${prefix}${at}`;
      const { clientPauseMs } = this.tuning;
      const client = new SimClient(name, loop, random.fork(name), nodes, notes, clientPauseMs);
      this.clients.push(client);
      client.start();
    }
    const watchRandom = this.random.fork('watchers');
    for (let at = 0; at < watcherCount; at += 1) {
      loop.after(watchRandom.between(0, 3_000), () => this.startWatcher(watchRandom, watcherCount));
    }
  }

  stopClients(): void {
    for (const client of this.clients) client.stop();
  }

  stopWatchers(): void {
    for (const watcher of this.watchers) watcher.stop();
  }

  /** One line of what happens; all lines together name the run. */
  trace(text: string): void {
    const line = `${this.loop.stepCount} ${this.loop.nowMs.toFixed(3)} ${text}`;
    for (let at = 0; at < line.length; at += 1) {
      this.traceHash = Math.imul(this.traceHash ^ line.charCodeAt(at), 0x01000193);
    }
    this.show?.(line);
  }

  /** Equal for equal runs, also in what clients saw. */
  fingerprint(): string {
    const { writes, reads } = this.notes;
    for (const { outcome, endedAt } of writes) this.trace(`${endedAt} ${JSON.stringify(outcome)}`);
    for (const { endedAt, revision, found } of reads) {
      this.trace(`${endedAt} ${revision} ${found.length}`);
    }
    return (this.traceHash >>> 0).toString(16).padStart(8, '0');
  }

  /** Another one replaces it when it had to list again, so that there are always some. */
  private startWatcher(random: Random, watcherCount: number): void {
    const prefix = random.pick(['', 'core/pods/', 'core/pods/one/', 'core/pods/one/hot-1']);
    const running = this.nodes.filter(({ store }) => store);
    const newest = Math.max(0, ...running.map(({ store }) => store!.revision()));
    // Also from where history is gone, and from a revision that is still to come.
    const oldest = Math.max(0, ...running.map(({ store }) => store!.status().compactedRevision));
    const after = Math.max(
      0,
      random.pick([newest, newest, newest - 3, newest - 50, newest - 400, 1, newest + 5, oldest]),
    );
    const name = `w${this.watchers.length}`;
    const watcher = new SimWatcher(
      name,
      prefix,
      after,
      this.loop,
      random.fork(name),
      this.nodes,
      random.pick([200, 2_000, 60_000]),
      random.pick([0, 0, 5, 500]),
    );
    this.watchers.push(watcher);
    watcher.start();
    this.loop.after(random.between(1_000, 8_000), () => {
      if (this.watchers.length < watcherCount * 4) this.startWatcher(random, watcherCount);
    });
  }
}
