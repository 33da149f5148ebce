/**
 * What once went wrong, staged: members, limits and faults are fixed, and each step waits for what it needs,
 * so that a change of the random workload moves nothing. The bug that a scenario is about is planted again
 * by the canary of the same name, which shows that the scenario still finds it.
 */
import { membersOf } from '@orch/raft';
import type { ListResult, Revision } from '@orch/store';
import type { LoggedEvent } from '../history/history.js';
import { versionOf } from './objects.js';
import type { Operator } from './operator.js';
import type { SimNode } from './sim-node.js';
import type { Tuning, World } from './world.js';

export interface Stage {
  readonly world: World;
  readonly operator: Operator;
  /** Throws when it does not come about within the simulated time: then the scenario shows nothing. */
  until(what: string, condition: () => boolean): Promise<void>;
}

export interface Scenario {
  readonly name: string;
  /** What went wrong. */
  readonly found: string;
  readonly memberCount: number;
  readonly tuning?: Tuning;
  /** From machines without a process to the moment in question. Clients are there from the start. */
  play(stage: Stage): Promise<void>;
}

/** Nothing is scarce, and nothing is slow. */
export const steadyTuning: Tuning = {
  replica: { heartbeatMs: 50, electionMs: 500 },
  store: { historyRetentionMs: 60_000, logKeepEntries: 400 },
  clockRate: 0,
  wallSpreadMs: 0,
  clientPauseMs: 50,
  writeMs: [0, 0],
};

export const scenarios: readonly Scenario[] = [
  {
    name: 'disk-fails-while-noting-a-peer',
    found:
      'a replica whose disk failed while it noted a peer told that peer, before it ended, that its directory was wiped: a healthy process ended',
    memberCount: 3,
    async play({ world, until }) {
      const [first, ...others] = world.nodes as [SimNode, ...SimNode[]];
      void first.start();
      await until('the first runs', () => first.store !== undefined);
      first.disk.faults.syncErrorRate = 1;
      for (const node of others) void node.start();
      await until('it fails', () => !first.isRunning);
      first.disk.faults.syncErrorRate = 0;
    },
  },
  {
    name: 'lease-round-before-own-term',
    found:
      'with reads from the lease, a new leader answered readers before an entry of its term was committed: stale reads',
    memberCount: 3,
    tuning: { ...steadyTuning, replica: { ...steadyTuning.replica, leaseReads: true } },
    async play({ world, until }) {
      const { nodes, network, truth, loop } = world;
      for (const node of nodes) void node.start();
      const commitOf = (node: SimNode) => node.log?.status().commitIndex ?? 0;
      let leader: SimNode | undefined;
      await until('the others do not know yet what the leader has committed', () => {
        leader = nodes.find(({ leads }) => leads);
        if (!leader || truth.revision < 10) return false;
        const committed = commitOf(leader);
        return nodes.every((node) => node === leader || commitOf(node) < committed);
      });
      const others = nodes.filter((node) => node !== leader);
      const urls = nodes.map(({ identity }) => identity.peerUrl);
      network.isolate(leader!.identity.peerUrl, urls, 'both');
      // Heartbeats are answered, and entries are not: nothing of the new term is committed for a while.
      let elected = false;
      truth.onNextLeader = () => {
        elected = true;
        for (const { disk } of others)
          Object.assign(disk.faults, { slowSyncRate: 1, slowSyncMs: [1_500, 1_500] });
      };
      await until('another leads', () => elected);
      const fromMs = loop.nowMs;
      await until('some have tried to read', () => loop.nowMs > fromMs + 1_000);
      for (const { disk } of others) disk.faults.slowSyncRate = 0;
      network.heal();
    },
  },
  {
    name: 'joiner-judges-the-past',
    found:
      'a new member that was still reading the log of the past told a voter that came later in it that it had been removed: a healthy process ended',
    memberCount: 3,
    tuning: {
      ...steadyTuning,
      replica: { ...steadyTuning.replica, appendEntriesMax: 1, inFlightMessagesMax: 1 },
    },
    async play({ world, operator, until }) {
      const { nodes, network } = world;
      for (const node of nodes) void node.start();
      const leader = () => nodes.find(({ leads }) => leads);
      await until(
        'there is a leader at work',
        () => leader() !== undefined && world.truth.revision > 5,
      );
      let changed = false;
      void operator.readdress(leader()!).then(() => {
        changed = true;
      });
      await until('a configuration without the later member is in the log', () => changed);
      const later = await joined(operator.add(), until);
      const joiner = await joined(operator.add(), until);
      const knowsLater = () =>
        membersOf(joiner.log!.status().configuration).some(({ name }) => name === later.name);
      await until(
        'the new member is in the past',
        () => joiner.store !== undefined && !knowsLater(),
      );
      const link = network.link(leader()!.identity.peerUrl, joiner.identity.peerUrl);
      link.set({ clogged: true });
      later.crash({ machine: false });
      void later.start();
      const fromMs = world.loop.nowMs;
      await until('the two have met', () => world.loop.nowMs > fromMs + 3_000);
      link.set({ clogged: false });
    },
  },
  {
    name: 'record-of-a-commit-lost',
    found:
      'a disk lost one of the records of a commit, of a key that was deleted later: the start did not notice, and reads of the past were wrong',
    memberCount: 3,
    async play({ world, until }) {
      const { nodes, truth } = world;
      const [node] = nodes as [SimNode];
      for (const one of nodes) void one.start();
      let place: Place | undefined;
      await until('one of several keys of a commit was deleted later', () => {
        place = oneOfSeveral(truth.complete());
        return place !== undefined;
      });
      const { revision, position, deletedRevision } = place!;
      const directory = `${node.dataDirectory}/state`;
      const key = versionKey(revision, position);
      const later = {
        gte: versionKey(deletedRevision + 1, 0),
        lt: versionKey(deletedRevision + 2, 0),
      };
      const isWritten = () => node.disk.rowsOf(directory, later).length > 0;
      await until('what came after its deletion is in the database', isWritten);
      node.crash({ machine: false });
      node.disk.loseRecord(directory, key);
      void node.start();
      await until('it shows a state again', () => node.store?.status().ready === true);
      const { name, store } = node;
      const startedAt = world.loop.stepCount;
      const consistency = { kind: 'exact', revision: revision as Revision } as const;
      let found: ListResult | undefined;
      void store!.list('', { consistency, timeoutMs: 4_000 }).then((result) => {
        found = result;
      });
      await until('the past was read', () => found !== undefined);
      const versions = found!.entries.map(versionOf);
      const asked = { client: 'scenario', replica: name, consistency, key: '', isList: true };
      const endedAt = world.loop.stepCount;
      const read = {
        kind: 'read',
        ...asked,
        startedAt,
        endedAt,
        revision,
        found: versions,
      } as const;
      world.notes.reads.push(read);
    },
  },
];

interface Place {
  readonly revision: number;
  readonly position: number;
  /** At which its key was deleted. */
  readonly deletedRevision: number;
}

/** A key of a commit with several, which was there before and was deleted next. */
function oneOfSeveral(log: readonly LoggedEvent[]): Place | undefined {
  for (const { revision, kind, key } of log) {
    const commit = log.filter((event) => event.revision === revision);
    const versions = log.filter((event) => event.key === key);
    const at = versions.findIndex((event) => event.revision === revision);
    const isMiddle = versions[at - 1]?.kind === 'put' && versions[at + 1]?.kind === 'delete';
    if (kind !== 'put' || commit.length < 2 || !isMiddle) continue;
    const position = commit.findIndex((event) => event.key === key);
    return { revision, position, deletedRevision: versions[at + 1]!.revision };
  }
  return undefined;
}

/** As the state database names the record of a version. */
function versionKey(revision: number, position: number): Buffer {
  const key = Buffer.from('v/000000000000');
  key.writeBigUInt64BE(BigInt(revision), 2);
  key.writeUInt32BE(position, 10);
  return key;
}

async function joined(
  adding: Promise<SimNode | undefined>,
  until: Stage['until'],
): Promise<SimNode> {
  let node: SimNode | undefined;
  void adding.then((added) => {
    node = added;
  });
  await until('a member joins', () => node?.store !== undefined);
  return node!;
}

export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (!scenario) throw new RangeError(`no scenario ${name}`);
  return scenario;
}
