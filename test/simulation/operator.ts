/**
 * The operator of the simulated cluster: changes members and the leader, and replaces lost
 * machines.
 */
import {
  branded,
  type Configuration,
  type MemberId,
  type MembershipChange,
  MembershipError,
} from '@orch/raft';
import { saveSnapshot } from '@orch/store';
import { inTime } from './in-time.js';
import type { Random } from './random.js';
import type { SimNode } from './sim-node.js';
import type { World } from './world.js';

const attemptMs = 3_000;
const pauseMs = 400;

export class Operator {
  /** Machines whose log is gone or not to be trusted: a minority at most, at any time. */
  readonly lost = new Set<SimNode>();
  readonly counts = { added: 0, promoted: 0, removed: 0, replaced: 0, transfers: 0, backups: 0 };
  /** Names of members that were to be removed, whether it has come about or not. */
  readonly unwanted = new Set<string>();
  /**
   * Replaced machines: never started again, because with an empty disk they would found a new
   * cluster.
   */
  readonly retired = new Set<SimNode>();
  /** The last snapshot that was saved whole. */
  backup: Buffer | undefined;
  private readonly ids = new Map<string, MemberId>();
  private busy = false;
  private nextName = 100;

  constructor(
    private readonly world: World,
    private readonly random: Random,
  ) {}

  get isBusy(): boolean {
    return this.busy;
  }

  /** Ends its work; unfinished operations remain. */
  stopped = false;

  /** It is not switched off for good, and will not be. */
  mayStart(node: SimNode): boolean {
    return !this.lost.has(node) && !this.retired.has(node);
  }

  /** Members of the newest configuration that a running replica knows. */
  configuration(): Configuration | undefined {
    const known = this.world.nodes
      .filter(({ store, log }) => store && log)
      .map(({ log }) => log!.status())
      .sort((left, right) => right.commitIndex - left.commitIndex)[0];
    return known?.configuration;
  }

  isMember(node: SimNode): boolean {
    const { voters = [], learners = [] } = this.configuration() ?? {};
    return [...voters, ...learners].some(({ name }) => name === node.name);
  }

  isVoter(node: SimNode): boolean {
    return (this.configuration()?.voters ?? []).some(({ name }) => name === node.name);
  }

  async transfer(target?: SimNode): Promise<void> {
    const voters = this.configuration()?.voters ?? [];
    if (voters.length < 2) return;
    const drawn = this.random.chance(0.5) ? this.random.pick(voters).id : undefined;
    const to = target ? this.idOf(target.name) : drawn;
    const log = this.anyLog();
    if (!log) return;
    this.world.trace(`operator moves the lead to ${to ?? 'anybody'}`);
    try {
      await this.inTime(log.transferLeadership(to, log.deadlineMs));
      this.counts.transfers += 1;
    } catch (error) {
      if (!(error instanceof MembershipError)) throw error;
    }
  }

  /** A learner comes, is promoted, and a member other than the lost ones may go for it. */
  async grow(): Promise<void> {
    await this.exclusively(async () => {
      const node = await this.add();
      if (node && this.random.chance(0.6)) await this.promote(node);
    });
  }

  async addVoter(): Promise<void> {
    await this.exclusively(async () => {
      const node = await this.add();
      if (node) await this.promote(node);
    });
  }

  async shrink(): Promise<void> {
    await this.exclusively(async () => {
      const { voters = [], learners = [] } = this.configuration() ?? {};
      const candidates = voters.length > 3 ? [...voters, ...learners] : [...learners];
      if (candidates.length === 0) return;
      const leader = this.world.nodes.find(({ leads }) => leads)?.name;
      const isLeaderToGo = voters.length > 3 && leader !== undefined && this.random.chance(0.3);
      await this.remove(isLeaderToGo ? leader : this.random.pick(candidates).name);
    });
  }

  /** A voter comes or goes. */
  async changeVoters(): Promise<void> {
    const { voters = [], learners = [] } = this.configuration() ?? {};
    const learner = learners.length > 0 ? this.random.pick(learners) : undefined;
    if (voters.length > 3) await this.shrink();
    else if (learner) {
      await this.exclusively(async () => {
        const node = this.world.nodes.find(({ name }) => name === learner.name);
        if (node) await this.promote(node);
      });
    } else await this.grow();
  }

  /** Requests at this replica, once, another client address of some member. */
  async readdress({ store, log, clock }: SimNode): Promise<void> {
    const voters = this.configuration()?.voters ?? [];
    if (!store || !log || voters.length === 0) return;
    const member = this.random.pick(voters);
    const clientUrl = `https://${member.name}:${1_024 + this.random.integer(60_000)}`;
    const deadlineMs = clock.monotonicMs() + attemptMs;
    try {
      const change = { kind: 'update', member: { ...member, clientUrl } } as const;
      await this.inTime(log.changeMembership(change, deadlineMs));
    } catch (error) {
      if (!(error instanceof MembershipError)) throw error;
    }
  }

  async backUp({ name, store }: SimNode): Promise<void> {
    if (!store) return;
    try {
      const bytes = await this.inTime(collect(saveSnapshot(store)));
      if (!bytes) return;
      this.backup = bytes;
      this.counts.backups += 1;
      this.world.trace(`operator: backup of ${name}, ${bytes.length} bytes`);
    } catch (error) {
      // Its disk could not be read, or a snapshot replaced the state: the caller gets an error and
      // retries.
      this.world.trace(`operator: no backup of ${name}: ${error}`);
    }
  }

  /** Without waiting for one removal before the next request. */
  async removeAtOnce(node: SimNode, names: readonly string[]): Promise<void> {
    await this.exclusively(async () => {
      const { log, clock } = node;
      if (!log) return;
      const asked = names.map(async (name) => {
        const id = this.idOf(name);
        if (id === undefined) return;
        this.unwanted.add(name);
        const deadlineMs = clock.monotonicMs() + attemptMs;
        try {
          await this.inTime(log.changeMembership({ kind: 'remove', id: id }, deadlineMs));
        } catch (error) {
          if (!(error instanceof MembershipError)) throw error;
        }
      });
      await Promise.all(asked);
    });
  }

  /** `removed` is called before its machine is switched off. */
  async replace(node: SimNode, removed?: () => void): Promise<void> {
    await this.exclusively(async () => {
      if (!(await this.remove(node.name))) return;
      removed?.();
      if (removed) await this.pause();
      this.retired.add(node);
      node.crash({ machine: true });
      const fresh = await this.add();
      if (fresh) await this.promote(fresh);
      this.counts.replaced += 1;
      this.lost.delete(node);
    });
  }

  private async exclusively(work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    await work();
    this.busy = false;
  }

  /** Adds a learner; its process starts immediately. */
  async add(): Promise<SimNode | undefined> {
    const before = this.configuration();
    if (!before) return undefined;
    const name = `n${this.nextName}`;
    this.nextName += 1;
    const member = {
      id: this.random.hex(16),
      name,
      peerUrl: `https://${name}:6480`,
      clientUrl: '',
    };
    if (!(await this.change({ kind: 'addLearner', member: branded(member) }, 'DuplicateMember')))
      return undefined;
    this.counts.added += 1;
    const { voters } = this.configuration() ?? before;
    const node = this.world.addNode({
      name,
      peerUrl: member.peerUrl,
      initialMembers: voters.map((voter) => ({ name: voter.name, peerUrl: voter.peerUrl })),
      initialState: 'join',
    });
    void node.start();
    return node;
  }

  private async promote(node: SimNode): Promise<void> {
    const id = this.idOf(node.name);
    if (id === undefined) return;
    if (await this.change({ kind: 'promote', id: id }, 'DuplicateMember'))
      this.counts.promoted += 1;
  }

  private async remove(name: string): Promise<boolean> {
    const id = this.idOf(name);
    if (id === undefined) return false;
    this.unwanted.add(name);
    const removed = await this.change({ kind: 'remove', id: id }, 'UnknownMember');
    if (removed) this.counts.removed += 1;
    return removed;
  }

  /** Also of a former member, once it was seen in a configuration. */
  private idOf(name: string): MemberId | undefined {
    const { voters = [], learners = [] } = this.configuration() ?? {};
    for (const member of [...voters, ...learners]) this.ids.set(member.name, member.id);
    return this.ids.get(name);
  }

  /**
   * Repeats a change until it is in effect: the status of a replica may still be undone, only the
   * leader's result counts. `doneCode` is its refusal of a change that is already in effect. False:
   * given up.
   */
  private async change(
    change: MembershipChange,
    doneCode: MembershipError['code'],
  ): Promise<boolean> {
    this.world.trace(`operator: ${change.kind} ${'id' in change ? change.id : change.member.name}`);
    for (let attempt = 0; attempt < 60 && !this.stopped; attempt += 1) {
      const log = this.anyLog();
      if (log) {
        try {
          if (await this.inTime(log.changeMembership(change, log.deadlineMs))) return true;
        } catch (error) {
          if (!(error instanceof MembershipError)) throw error;
          if (error.code === doneCode) return true;
          if (error.code === 'WouldLoseQuorum' && attempt > 10) return false;
        }
      }
      await this.pause();
    }
    return false;
  }

  private anyLog() {
    const running = this.world.nodes.filter(({ store, log }) => store && log);
    if (running.length === 0) return undefined;
    const node = this.random.pick(running);
    const log = node.log!;
    const deadlineMs = node.clock.monotonicMs() + attemptMs;
    return {
      deadlineMs,
      transferLeadership: log.transferLeadership.bind(log),
      changeMembership: log.changeMembership.bind(log),
    };
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => {
      this.world.loop.after(pauseMs, resolve);
    });
  }

  /** Undefined when the called process has died. */
  private inTime<Result>(work: Promise<Result>): Promise<Result | undefined> {
    return inTime(this.world.loop, work, attemptMs * 3);
  }
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}
