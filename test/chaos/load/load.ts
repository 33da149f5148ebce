/**
 * The load of a run: clients that write and read, two witnesses of each server (one a kind) that tell
 * what it says happened, and watchers that roam. It can be paused, so that everybody can catch up with
 * one last write, and go on after that.
 */
import type { ChaosCluster, Member } from '../support/chaos-cluster.js';
import type { Random } from '../support/random.js';
import { NoAnswer, ServerClient } from '../support/server-client.js';
import { eventually, sleep } from '../support/wait.js';
import { collectionPath, dataOf, type LoadObject, resources } from './keys.js';
import { LoadClient, type LoadTarget } from './load-client.js';
import { Notes } from './notes.js';
import { Watcher } from './watcher.js';

export interface LoadSettings {
  readonly clientCount: number;
  readonly roamerCount: number;
  readonly thinkMs: number;
  readonly timeoutMs: number;
  readonly padding?: string;
  /** So little is kept that a list in pages may expire on its way. */
  readonly isHistoryShort?: boolean;
}

export const defaultLoad: LoadSettings = {
  clientCount: 9,
  roamerCount: 4,
  thinkMs: 8,
  timeoutMs: 8_000,
};

const roamMs = { from: 2_000, to: 9_000 };
const markerTimeoutMs = 60_000;
const catchUpTimeoutMs = 90_000;
const warmUpCount = 60;
const reachTimeoutMs = 30_000;
const pollMs = 50;

export class Load {
  readonly notes = new Notes();
  readonly witnesses: Watcher[] = [];
  readonly roamers: Watcher[] = [];
  /** Watches of a scenario's own, which it ends itself. */
  readonly passing: Watcher[] = [];
  private readonly client: ServerClient;
  /** Witnesses that are not waited for. */
  private readonly gone = new Set<Watcher>();
  private clients: LoadClient[] = [];
  private generation = 0;
  private markerCount = 0;

  constructor(
    private readonly cluster: ChaosCluster,
    private readonly random: Random,
    private readonly settings: LoadSettings,
    /** Servers that clients may turn to, whether they answer or not. */
    private readonly targets: () => readonly LoadTarget[] = () =>
      cluster.current().filter(({ process }) => process.isRunning),
  ) {
    this.client = new ServerClient(cluster.certificates.authorityPem, settings.clientCount + 2);
  }

  /** Resolves when writes are being acknowledged. */
  async start(): Promise<void> {
    // Not 0: that would begin with what is there, in any order, once the first writes are done.
    const revision = await this.cluster.revision(this.cluster.current()[0]!);
    for (const member of this.cluster.current()) this.witness(member, revision);
    for (let at = 0; at < this.settings.roamerCount; at += 1) {
      const roamer = new Watcher(
        {
          id: `roamer${at}`,
          resource: resources[at % resources.length]!,
          next: () => this.anyTarget(),
          leaveAfterMs: () => this.random.between(roamMs.from, roamMs.to),
        },
        this.cluster.certificates.authorityPem,
        this.notes,
      );
      this.roamers.push(roamer);
      roamer.start(revision);
    }
    this.resume();
    await this.acknowledges(warmUpCount, 60_000);
  }

  /** Watches of one server from `afterRevision`, whatever befalls it. */
  witness(member: Member, afterRevision: number): void {
    for (const resource of resources) {
      const watcher = new Watcher(
        {
          id: witnessId(member),
          resource,
          next: () => (member.process.isRunning ? member : undefined),
        },
        this.cluster.certificates.authorityPem,
        this.notes,
      );
      this.witnesses.push(watcher);
      watcher.start(afterRevision);
    }
  }

  /** The highest revision that any witness has seen. */
  get revisionSeen(): number {
    return Math.max(0, ...this.witnesses.map((witness) => witness.revisionSeen));
  }

  /** A watch of a scenario's own at any server, from a revision that may be gone or still to come. */
  watchFrom(afterRevision: number): Watcher {
    const watcher = new Watcher(
      {
        id: `passing${this.passing.length}`,
        resource: this.random.pick(resources),
        next: () => this.anyTarget(),
      },
      this.cluster.certificates.authorityPem,
      this.notes,
    );
    this.passing.push(watcher);
    watcher.start(afterRevision);
    return watcher;
  }

  /** What a removed server has told counts, but it tells nothing more. */
  forget(member: Member): void {
    for (const witness of this.witnesses) {
      if (witness.settings.id === witnessId(member)) this.gone.add(witness);
    }
  }

  /** Waits for so many acknowledgements from now on. */
  async acknowledges(count: number, timeoutMs: number): Promise<void> {
    const before = this.notes.acknowledged;
    await eventually(
      `${count} acknowledged writes`,
      timeoutMs,
      () => this.notes.acknowledged >= before + count,
    );
  }

  /** Goes on until so many writes have been acknowledged in all, or for as long as that may take. */
  async reaches(count: number): Promise<void> {
    const untilMs = performance.now() + reachTimeoutMs;
    while (this.notes.acknowledged < count && performance.now() < untilMs) await sleep(pollMs);
  }

  resume(): void {
    this.generation += 1;
    const homes = this.cluster.current().map(({ name }) => name);
    for (let at = 0; at < this.settings.clientCount; at += 1) {
      const { thinkMs, timeoutMs, padding, isHistoryShort = false } = this.settings;
      this.clients.push(
        new LoadClient(this.client, this.notes, this.random.fork(), {
          id: `c${at}g${this.generation}`,
          targets: this.targets,
          ...(at % 3 !== 2 && { home: homes[at % homes.length]! }),
          thinkMs,
          timeoutMs,
          isHistoryShort,
          ...(padding !== undefined && { padding }),
        }),
      );
    }
  }

  async pause(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.stop()));
    this.clients = [];
  }

  /** Paused, and every watcher has seen the last write of each kind. Returns its revision. */
  async settle(): Promise<number> {
    await this.pause();
    let last = 0;
    for (const resource of resources) {
      const revision = await this.mark(resource);
      last = revision;
      const watchers = [...this.witnesses, ...this.roamers].filter(
        (watcher) => watcher.settings.resource === resource && !this.gone.has(watcher),
      );
      for (const watcher of watchers) {
        await eventually(
          `${watcher.settings.id} on ${resource} at ${watcher.revisionSeen} to reach ${revision}`,
          catchUpTimeoutMs,
          () => watcher.hasReached(revision),
        );
      }
    }
    return last;
  }

  /** Ends every client and watcher. */
  async stop(): Promise<void> {
    await this.pause();
    await Promise.all([...this.witnesses, ...this.roamers].map((watcher) => watcher.stop()));
    await this.client.close();
  }

  /** Writes an object that nobody else touches. */
  private async mark(resource: string): Promise<number> {
    this.markerCount += 1;
    const name = `chaos-marker-${this.markerCount}`;
    const key = `${resource}/${name}`;
    const untilMs = performance.now() + markerTimeoutMs;
    for (let attempt = 1; performance.now() < untilMs; attempt += 1) {
      const attemptKey = `${key}.${attempt}`;
      const value = `marker.${this.markerCount}.${attempt}`;
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
          body: { metadata: { name: key.split('/')[1] }, data: dataOf(key, value) },
          timeoutMs: this.settings.timeoutMs,
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
      if (!(error instanceof NoAnswer)) throw error;
      this.notes.end(write, { kind: 'unknown' });
      return undefined;
    }
  }

  private anyTarget(): LoadTarget | undefined {
    const targets = this.targets();
    return targets.length > 0 ? this.random.pick(targets) : undefined;
  }
}

function witnessId({ name }: Member): string {
  return `witness of ${name}`;
}
