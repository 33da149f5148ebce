/**
 * One run of a scenario: the cluster, the load, and a record of the faults and of the time that
 * writes were unavailable after each.
 */
import type { Violation } from '../history/history.js';
import { kinds } from './load/keys.js';
import { Load, type LoadOptions } from './load/load.js';
import { ChaosCluster, type Member } from './support/chaos-cluster.js';
import { leadersByTerm } from './support/leaders.js';
import type { Random } from './support/random.js';
import { eventually, sleep } from './support/wait.js';

const writesBackTimeoutMs = 60_000;
const recoverTimeoutMs = 90_000;
const watchersEndTimeoutMs = 30_000;

export class Run {
  readonly violations: Violation[] = [];
  readonly faults = new Map<string, number>();
  /** Milliseconds from a fault to the acknowledgement of a write that started after it. */
  readonly writesBackMs: number[] = [];
  readonly load: Load;
  /** Changes of leader up to the end of the faults. */
  failovers = 0;
  isFinished = false;
  private termsAtStart = 0;

  constructor(
    readonly cluster: ChaosCluster,
    readonly random: Random,
    loadOptions: LoadOptions,
    readonly say: (text: string) => void,
  ) {
    this.load = new Load(cluster, random.fork(), loadOptions);
  }

  async start(): Promise<void> {
    await this.cluster.startAll();
    await this.load.start();
    this.termsAtStart = leadersByTerm(this.cluster).terms.size;
  }

  countFailovers(): number {
    this.failovers = leadersByTerm(this.cluster).terms.size - this.termsAtStart;
    return this.failovers;
  }

  /** Recovers the cluster, waits until all watchers are up to date, runs the checks and ends it. */
  async finish(enough = 0): Promise<void> {
    this.isFinished = true;
    this.say('recovering');
    await this.recover();
    await this.load.reaches(enough);
    this.countFailovers();
    const revision = await this.load.settle();
    this.say(`settled at revision ${revision}`);
    await this.examine();
  }

  get faultCount(): number {
    return [...this.faults.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Records that a fault starts now. Returns the time. */
  fault(what: string): number {
    this.faults.set(what, (this.faults.get(what) ?? 0) + 1);
    this.say(what);
    return this.load.notes.now();
  }

  /** Reports a violation of the scenario's own rule unless `holds`. */
  expect(holds: boolean, rule: string, detail: string): void {
    if (!holds) this.violations.push({ rule, detail });
  }

  /** Waits until a write that started after `since` is acknowledged. */
  async writesBack(since: number): Promise<number> {
    const at = await eventually('writes to be acknowledged', writesBackTimeoutMs, () =>
      this.load.notes.firstAcknowledgedAfter(since),
    );
    const tookMs = at - since;
    this.writesBackMs.push(tookMs);
    this.say(`writes back after ${Math.round(tookMs)} ms`);
    return tookMs;
  }

  /** Waits while the load runs. */
  async work(ms: number): Promise<void> {
    await sleep(ms);
  }

  async kill(member: Member): Promise<void> {
    await member.process.kill();
  }

  async restart(member: Member): Promise<void> {
    this.cluster.launch(member);
    await this.cluster.ready([member]);
  }

  /** Isolates a member from all others, in one direction or both. */
  isolate(member: Member, way: 'both' | 'in' | 'out'): void {
    for (const other of this.cluster.current()) {
      if (other === member) continue;
      if (way !== 'in') this.cluster.proxy.block(member.name, other.name);
      if (way !== 'out') this.cluster.proxy.block(other.name, member.name);
    }
  }

  healNetwork(): void {
    const { proxy, members } = this.cluster;
    proxy.heal();
    for (const from of members) {
      for (const to of members) {
        if (from === to) continue;
        proxy.between(from.name, to.name).set({
          delayMs: 0,
          jitterMs: 0,
          bytesPerSecond: Number.POSITIVE_INFINITY,
        });
      }
    }
  }

  /** Ends all faults and waits until every server is ready and writes are acknowledged. */
  async recover(): Promise<void> {
    const since = this.load.notes.now();
    this.healNetwork();
    for (const member of this.cluster.current()) {
      if (member.process.isPaused) member.process.signal('SIGCONT');
      if (!member.process.isRunning) this.cluster.launch(member);
    }
    await this.cluster.ready(this.cluster.current(), recoverTimeoutMs);
    await eventually('writes to be acknowledged', writesBackTimeoutMs, () =>
      this.load.notes.firstAcknowledgedAfter(since),
    );
  }

  /** Checks the servers after the load has settled. */
  private async examine(): Promise<void> {
    const check = await this.cluster.operator.check();
    this.expect(check.consistent, 'servers differ', JSON.stringify(check));
    await this.load.stop();
    for (const { name, url } of this.cluster.current()) {
      await eventually(`${name} to have no watchers left`, watchersEndTimeoutMs, async () => {
        return (await this.loadWatchers(url)) === 0;
      });
    }
    for (const { process } of this.cluster.members) {
      for (const { member, exit, lastLines } of process.unexpectedEnds) {
        this.expect(false, 'server ended by itself', `${member} with ${exit}: ${lastLines}`);
      }
    }
    for (const conflict of leadersByTerm(this.cluster).conflicts) {
      this.expect(false, 'two leaders of one term', conflict);
    }
    await this.stopAll();
  }

  private async loadWatchers(url: string): Promise<number> {
    let count = 0;
    for (const kind of kinds) {
      const label = `kind="${kind}"`;
      count += await this.cluster.operator.metric(url, 'apiserver_registered_watchers', label);
    }
    return count;
  }

  private async stopAll(): Promise<void> {
    const exits = await Promise.all(
      this.cluster
        .current()
        .map(async ({ name, process }) => ({ name, exit: await process.stop() })),
    );
    for (const { name, exit } of exits) {
      this.expect(exit === '0', 'did not end cleanly', `${name} ended with ${exit}`);
    }
  }
}
