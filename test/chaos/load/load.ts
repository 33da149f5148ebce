/**
 * The load of a run: clients that write and read, and watchers. It can be paused, so that all
 * watchers catch up with one last write, and resumed.
 */
import type { ChaosCluster } from '../support/chaos-cluster.js';
import type { Random } from '../support/random.js';
import { NoResponse, ServerClient } from '../support/server-client.js';
import { eventually, sleep } from '../support/wait.js';
import { collectionPath, dataOf, type LoadObject, resources } from './keys.js';
import { LoadClient } from './load-client.js';
import type { LoadTarget } from './load-target.js';
import { Notes } from './notes.js';
import { coloredValue, labelsOf } from './selectors.js';
import { Watchers } from './watchers.js';

export interface LoadOptions {
  readonly clientCount: number;
  /** Number of roamers without a selector. */
  readonly roamerCount: number;
  readonly thinkMs: number;
  readonly timeoutMs: number;
  /** Whether history is so short that exact and paged lists may get 410. */
  readonly isHistoryShort?: boolean;
}

export const defaultLoad: LoadOptions = {
  clientCount: 9,
  roamerCount: 4,
  thinkMs: 8,
  timeoutMs: 8_000,
};

const markerTimeoutMs = 60_000;
const warmUpCount = 60;
const reachTimeoutMs = 30_000;
const pollMs = 50;

export class Load {
  readonly notes = new Notes();
  readonly watchers: Watchers;
  private readonly client: ServerClient;
  private clients: LoadClient[] = [];
  private generation = 0;
  private markerCount = 0;

  constructor(
    private readonly cluster: ChaosCluster,
    private readonly random: Random,
    private readonly options: LoadOptions,
  ) {
    const { authorityPem } = cluster.certificates;
    this.client = new ServerClient(authorityPem, options.clientCount + 2);
    this.watchers = new Watchers(authorityPem, this.notes, random.fork(), () => this.anyTarget());
  }

  /** Resolves when writes are acknowledged. */
  async start(): Promise<void> {
    // Not 0: a watch from 0 starts with the existing objects, in any order.
    const revision = await this.cluster.revision(this.cluster.current()[0]!);
    this.watchers.start(this.cluster.current(), this.options.roamerCount, revision);
    this.resume();
    await this.acknowledges(warmUpCount, 60_000);
  }

  /** Waits for this many further acknowledgements. */
  async acknowledges(count: number, timeoutMs: number): Promise<void> {
    const before = this.notes.acknowledged;
    await eventually(
      `${count} acknowledged writes`,
      timeoutMs,
      () => this.notes.acknowledged >= before + count,
    );
  }

  /** Continues until this many writes are acknowledged in total, or until the timeout. */
  async reaches(count: number): Promise<void> {
    const untilMs = performance.now() + reachTimeoutMs;
    while (this.notes.acknowledged < count && performance.now() < untilMs) await sleep(pollMs);
  }

  resume(): void {
    this.generation += 1;
    const homes = this.cluster.current().map(({ name }) => name);
    for (let at = 0; at < this.options.clientCount; at += 1) {
      const { thinkMs, timeoutMs, isHistoryShort = false } = this.options;
      this.clients.push(
        new LoadClient(this.client, this.notes, this.random.fork(), {
          id: `c${at}g${this.generation}`,
          targets: () => this.targets(),
          ...(at % 3 !== 2 && { home: homes[at % homes.length]! }),
          thinkMs,
          timeoutMs,
          isHistoryShort,
        }),
      );
    }
  }

  async pause(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.stop()));
    this.clients = [];
  }

  /** Pauses until every watcher has received the last write of each kind. Returns its revision. */
  async settle(): Promise<number> {
    await this.pause();
    let last = 0;
    for (const resource of resources) {
      const revision = await this.mark(resource);
      last = revision;
      await this.watchers.reach(resource, revision);
    }
    return last;
  }

  /** Ends every client and watcher. */
  async stop(): Promise<void> {
    await this.pause();
    await this.watchers.stop();
    await this.client.close();
  }

  /** Writes an object that no other client writes. */
  private async mark(resource: string): Promise<number> {
    this.markerCount += 1;
    const name = `chaos-marker-${this.markerCount}`;
    const key = `${resource}/${name}`;
    const untilMs = performance.now() + markerTimeoutMs;
    for (let attempt = 1; performance.now() < untilMs; attempt += 1) {
      const attemptKey = `${key}.${attempt}`;
      const value = coloredValue(`marker${this.markerCount}`, attempt, 'red');
      const revision = await this.put(resource, attemptKey, value);
      if (revision !== undefined) return revision;
    }
    throw new Error(`no server took a last write within ${markerTimeoutMs} ms`);
  }

  private async put(resource: string, key: string, value: string): Promise<number | undefined> {
    const target = this.anyTarget();
    if (!target) throw new Error('no server runs');
    const write = this.notes.begin('marker', [{ kind: 'put', key, value, expect: 'absent' }]);
    try {
      const { status, body } = await this.client.send(
        'POST',
        `${target.url}${collectionPath(resource)}`,
        {
          body: {
            metadata: { name: key.split('/')[1], labels: labelsOf(value) },
            data: dataOf(key, value),
          },
          timeoutMs: this.options.timeoutMs,
        },
      );
      if (status !== 201) {
        this.notes.end(write, { kind: 'unknown' });
        return undefined;
      }
      const revision = Number((body as LoadObject).metadata.resourceVersion);
      this.notes.end(write, { kind: 'applied', revision });
      return revision;
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      this.notes.end(write, { kind: 'unknown' });
      return undefined;
    }
  }

  /** Returns one of the servers that clients may use. */
  anyTarget(): LoadTarget | undefined {
    const targets = this.targets();
    return targets.length > 0 ? this.random.pick(targets) : undefined;
  }

  /** Returns the running servers, whether they respond or not. */
  private targets(): readonly LoadTarget[] {
    return this.cluster.current().filter(({ process }) => process.isRunning);
  }
}
