/**
 * Runs the commands of a scripted trace on a cluster of real cores and returns everything that they
 * do as text. Nothing happens between commands: a test decides which replica ticks, which message
 * arrives and which write reaches the disk. docs/raft.md lists the commands.
 */
import type { Message } from '../messages.js';
import type { MemberId, MembershipChange } from '../types.js';
import {
  describeConfiguration,
  describeEntry,
  describeMessage,
  describeResults,
  describeWrite,
  numberOf,
} from './describe-event.js';
import { member, memberId, testOptions } from './test-cluster.js';
import { emptyDisk, TestReplica } from './test-replica.js';

type Arguments = Readonly<Record<string, string>>;

/** Rounds after which `deliver` gives up: the scenario has no end. */
const roundsMax = 200;
/** Dropped messages that a trace lists; it counts more of them. */
const listedDropsMax = 4;

export class Scenario {
  private readonly replicas = new Map<MemberId, TestReplica>();
  private network: Message[] = [];
  private readonly slowDisks = new Set<MemberId>();
  private readonly isolated = new Set<MemberId>();
  private lines: string[] = [];
  private lastId = 0;

  /** Executes `name positional... key=value...`. Returns the trace, one event per line. */
  run(line: string): string {
    const [name = '', ...words] = line.split(/\s+/);
    const named = words.filter((word) => word.includes('='));
    const options: Arguments = Object.fromEntries(named.map((word) => word.split('=')));
    const positional = words.filter((word) => !word.includes('='));
    this.lines = [];
    this.execute(name, positional, options);
    return this.lines.length === 0 ? 'nothing happens' : this.lines.join('\n');
  }

  private execute(name: string, words: readonly string[], options: Arguments): void {
    const [first = '', ...rest] = words;
    const commands: Readonly<Record<string, () => void>> = {
      cluster: () => this.create(options),
      tick: () => this.tick(this.replica(first), Number(rest[0] ?? 1)),
      campaign: () => this.campaign(this.replica(first)),
      elect: () => this.elect(this.replica(first)),
      propose: () => this.propose(this.replica(first), rest),
      read: () => this.read(this.replica(first)),
      change: () => this.change(this.replica(first), rest),
      transfer: () => this.transfer(this.replica(first), rest[0]),
      deliver: () => this.deliver(options),
      drop: () => this.drop(options),
      isolate: () => {
        for (const word of words) this.isolated.add(this.replica(word).id);
      },
      disconnect: () => this.disconnect(this.replica(first), this.replica(rest[0] ?? '')),
      heal: () => this.isolated.clear(),
      'slow-disk': () => this.slowDisks.add(this.replica(first).id),
      sync: () => this.sync(this.replica(first)),
      compact: () => this.compact(this.replica(first)),
      restart: () => this.restart(this.replica(first)),
      status: () => this.status(),
    };
    const command = commands[name];
    if (!command) throw new Error(`no command ${name}`);
    command();
  }

  private create({
    voters = '',
    learners = '',
    idle = '',
    lease,
    appendEntriesMax,
  }: Arguments): void {
    const members = (text: string) => (text === '' ? [] : text.split(',').map(Number).map(member));
    const configuration = { voters: members(voters), learners: members(learners) };
    const all = [...configuration.voters, ...configuration.learners, ...members(idle)];
    for (const { id } of all) {
      const options = {
        ...testOptions,
        id,
        random: () => 0.5,
        leaseReads: lease === 'on',
        ...(appendEntriesMax && { appendEntriesMax: Number(appendEntriesMax) }),
      };
      const isIdle = members(idle).some((other) => other.id === id);
      const disk = emptyDisk(isIdle ? { voters: [], learners: [] } : configuration);
      const replica = new TestReplica(id, disk, options);
      this.replicas.set(id, replica);
      this.work(replica);
    }
    this.lines = [];
    this.status();
  }

  private tick(replica: TestReplica, count: number): void {
    for (let done = 0; done < count; done += 1) {
      replica.core.tick();
      this.work(replica);
    }
  }

  private campaign(replica: TestReplica): void {
    for (let count = 0; count < 2 * testOptions.electionTicks; count += 1) {
      if (replica.core.status().role === 'preCandidate') return;
      this.tick(replica, 1);
    }
  }

  /** Without a trace of the election itself. */
  private elect(replica: TestReplica): void {
    this.campaign(replica);
    this.deliver({});
    this.lines = [];
    this.status();
  }

  private propose(replica: TestReplica, texts: readonly string[]): void {
    const commands = texts.map((text) => ({ id: this.nextId(), data: Buffer.from(text) }));
    replica.core.propose(commands);
    this.work(replica);
  }

  private read(replica: TestReplica): void {
    replica.core.readIndex(this.nextId());
    this.work(replica);
  }

  private change(replica: TestReplica, [kind, number]: readonly string[]): void {
    const who = Number(number);
    const change: MembershipChange =
      kind === 'addLearner'
        ? { kind, member: member(who) }
        : { kind: kind === 'promote' ? 'promote' : 'remove', id: memberId(who) };
    replica.core.changeMembership(this.nextId(), change);
    this.work(replica);
  }

  private transfer(replica: TestReplica, to: string | undefined): void {
    const target = to === undefined ? undefined : memberId(Number(to));
    replica.core.transferLeadership(this.nextId(), target);
    this.work(replica);
  }

  /** Delivers messages in the order in which they were sent, until none is left or `count` are. */
  private deliver({ from, to, count }: Arguments): void {
    let left = count === undefined ? roundsMax : Number(count);
    for (; left > 0; left -= 1) {
      const index = this.network.findIndex((message) => matches(message, from, to));
      if (index < 0) return;
      const [message] = this.network.splice(index, 1);
      this.receive(message!);
    }
    if (count === undefined) throw new Error('the messages do not come to an end');
  }

  private receive(message: Message): void {
    const target = this.replicas.get(message.to);
    const isLost = this.isolated.has(message.from) || this.isolated.has(message.to);
    if (!target || isLost) {
      this.lines.push(`lost: ${describeMessage(message)}`);
      return;
    }
    this.lines.push(describeMessage(message));
    target.core.step(message);
    this.work(target);
  }

  private drop({ from, to }: Arguments): void {
    const dropped = this.network.filter((message) => matches(message, from, to));
    this.network = this.network.filter((message) => !dropped.includes(message));
    if (dropped.length > listedDropsMax) this.lines.push(`dropped: ${dropped.length} messages`);
    else for (const message of dropped) this.lines.push(`dropped: ${describeMessage(message)}`);
  }

  private disconnect(replica: TestReplica, peer: TestReplica): void {
    replica.core.handle({ kind: 'peerUnreachable', peer: peer.id, connected: false });
    this.work(replica);
  }

  private sync(replica: TestReplica): void {
    this.slowDisks.delete(replica.id);
    this.work(replica);
  }

  private compact(replica: TestReplica): void {
    replica.flushState();
    replica.cut();
    this.note(replica, `log starts after ${replica.core.status().firstIndex - 1}`);
    this.work(replica);
  }

  private restart(replica: TestReplica): void {
    replica.flushState();
    replica.restart();
    this.note(replica, 'restarts');
    this.work(replica);
  }

  /** Performs writes, reads and snapshots; messages wait for `deliver`. */
  private work(replica: TestReplica): void {
    for (let turn = 0; turn < roundsMax; turn += 1) {
      replica.pump();
      this.noteSeen(replica);
      const { write } = replica;
      const isWriting = write !== undefined && !this.slowDisks.has(replica.id);
      if (isWriting) {
        this.note(replica, `writes ${describeWrite(write)}`);
        replica.finishWrite();
      }
      replica.apply();
      const isReading = replica.reads.length > 0;
      replica.finishRead();
      const isInstalling = replica.install !== undefined;
      if (replica.install) this.note(replica, `installs snapshot ${replica.install.index}`);
      replica.finishInstall();
      this.sendSnapshots(replica);
      const sent = replica.outgoing.splice(0);
      this.network.push(...sent);
      if (!isWriting && !isReading && !isInstalling && sent.length === 0) return;
    }
  }

  private noteSeen(replica: TestReplica): void {
    const { seen } = replica;
    for (const leadership of seen.leadership.splice(0)) {
      if (!leadership) continue;
      const leader = leadership.leader === undefined ? 'none' : numberOf(leadership.leader);
      this.note(replica, `is ${leadership.role} in term ${leadership.term}, leader ${leader}`);
    }
    for (const configuration of seen.configurations.splice(0)) {
      this.note(replica, `uses ${describeConfiguration(configuration)}`);
    }
    for (const entry of seen.committed.splice(0)) {
      this.note(replica, `applies ${describeEntry(entry)}`);
    }
    for (const line of describeResults(takeResults(replica))) {
      this.note(replica, line);
    }
  }

  private sendSnapshots(replica: TestReplica): void {
    for (const to of replica.snapshotsToSend.splice(0)) {
      const point = replica.makeSnapshot();
      const target = this.replicas.get(to);
      const isReachable = !this.isolated.has(to) && !this.isolated.has(replica.id);
      this.note(replica, `sends snapshot ${point?.index ?? 'none'} to ${numberOf(to)}`);
      const { term } = replica.core.status();
      if (point && target && isReachable) {
        target.core.handle({ kind: 'snapshotReceived', point, from: replica.id, term });
        this.work(target);
        replica.core.handle({ kind: 'snapshotSent', to, point });
      } else replica.core.handle({ kind: 'snapshotSent', to, point: undefined });
    }
  }

  private status(): void {
    for (const replica of this.replicas.values()) {
      const { role, term, commitIndex, firstIndex, lastIndex, leader } = replica.core.status();
      const entries = replica.disk.entries.map(({ index, term }) => `${index}/${term}`).join(' ');
      this.note(
        replica,
        `${role} term=${term} leader=${leader === undefined ? 'none' : numberOf(leader)} ` +
          `commit=${commitIndex} log=${firstIndex}..${lastIndex} disk=[${entries}]`,
      );
    }
  }

  private note(replica: TestReplica, text: string): void {
    this.lines.push(`${numberOf(replica.id)}: ${text}`);
  }

  private replica(number: string): TestReplica {
    const found = this.replicas.get(memberId(Number(number)));
    if (!found) throw new Error(`no replica ${number}`);
    return found;
  }

  private nextId(): number {
    this.lastId += 1;
    return this.lastId;
  }
}

function takeResults({ seen }: TestReplica) {
  return {
    readStates: seen.readStates.splice(0),
    refusals: seen.refusals.splice(0),
    membershipResults: seen.membershipResults.splice(0),
    transferResults: seen.transferResults.splice(0),
  };
}

function matches({ from, to }: Message, wantedFrom?: string, wantedTo?: string): boolean {
  const isFrom = wantedFrom === undefined || numberOf(from) === Number(wantedFrom);
  return isFrom && (wantedTo === undefined || numberOf(to) === Number(wantedTo));
}
