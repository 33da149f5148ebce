/** Scenarios of the whole core, each a short story of replicas, disks and a network. */
import { describe, expect, it } from 'vitest';
import type { LogIndex } from '../replicated-log.js';
import { encodeConfiguration } from './configuration-codec.js';
import { entryAfter, LOG_ORIGIN } from './entry-checksum.js';
import { InvariantError } from './invariant.js';
import { mulberry32 } from './testing/mulberry32.js';
import { memberId, TEST_OPTIONS, TestCluster, votersOf } from './testing/test-cluster.js';
import { emptyDisk } from './testing/test-replica.js';
import type { AppendRequest, Entry, Message } from './types.js';

const EMPTY = Buffer.alloc(0);

describe('a sole voter', () => {
  it('leads after its first tick, but commits only what it has written', () => {
    const cluster = new TestCluster([1]);
    const replica = cluster.replica(1);
    cluster.slowDisks.add(replica.id);
    replica.core.tick();
    cluster.settle();
    expect(replica.core.status().role).toBe('candidate');
    replica.core.tick();
    replica.finishWrite();
    cluster.settle();
    expect(replica.core.status()).toMatchObject({ role: 'leader', term: 1, commitIndex: 0 });
    cluster.propose(replica, 3);
    replica.finishWrite();
    cluster.settle();
    expect(replica.core.status()).toMatchObject({ commitIndex: 1, lastIndex: 4 });
    replica.finishWrite();
    cluster.settle();
    expect(replica.core.status()).toMatchObject({ commitIndex: 4, appliedIndex: 4 });
    expect(cluster.network).toEqual([]);
  });

  it('puts everything that gathers during a write into the next one', () => {
    const cluster = new TestCluster([1]);
    const replica = cluster.elect(1);
    cluster.slowDisks.add(replica.id);
    cluster.propose(replica);
    cluster.settle();
    for (let count = 0; count < 5; count += 1) cluster.propose(replica, 2);
    cluster.settle();
    expect(replica.write?.entries.length).toBe(1);
    replica.finishWrite();
    cluster.settle();
    expect(replica.write?.entries.length).toBe(10);
  });

  it('answers reads at once, and only after an entry of its own term is committed', () => {
    const cluster = new TestCluster([1]);
    const replica = cluster.replica(1);
    cluster.slowDisks.add(replica.id);
    replica.core.tick();
    cluster.settle();
    replica.finishWrite();
    replica.core.readIndex(5);
    cluster.settle();
    expect(replica.seen.readStates).toEqual([]);
    replica.finishWrite();
    cluster.settle();
    expect(replica.seen.readStates).toEqual([{ context: 5, index: 1 }]);
  });

  it('finds after a restart all that it had committed', () => {
    const cluster = new TestCluster([1]);
    const replica = cluster.elect(1);
    cluster.propose(replica, 20);
    cluster.settle();
    replica.restart();
    cluster.elect(1);
    expect(replica.core.status()).toMatchObject({ term: 2, commitIndex: 22 });
    expect(replica.seen.committed.map((entry) => entry.index)).toEqual(
      Array.from({ length: 22 }, (_, at) => at + 1),
    );
  });
});

describe('elections', () => {
  it('does not raise its term while it cannot win', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    cluster.isolated.add(memberId(3));
    cluster.tick(100);
    expect(cluster.replica(3).core.status()).toMatchObject({ role: 'preCandidate', term: 1 });
    cluster.isolated.clear();
    cluster.tick(3);
    expect(cluster.replica(3).core.status()).toMatchObject({
      role: 'follower',
      leader: memberId(1),
    });
    expect(cluster.replica(1).core.status()).toMatchObject({ role: 'leader', term: 1 });
  });

  it('finds a first leader before a whole election timeout has passed', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const cluster = new TestCluster([1, 2, 3], { random: mulberry32(seed) });
      for (let ticks = 1; ticks < TEST_OPTIONS.electionTicks; ticks += 1) {
        // Not at the same moment: clocks never are.
        for (const { core } of cluster.replicas.values()) {
          core.tick();
          cluster.settle();
        }
      }
      expect(cluster.leader(), `seed ${seed}`).toBeDefined();
    }
  });

  it('asks early in vain while others hear a leader, and disturbs nobody', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const restarted = cluster.replica(3);
    restarted.restart();
    cluster.lose = ({ from, to }) => from === memberId(1) && to === memberId(3);
    cluster.tick(TEST_OPTIONS.electionTicks - 1);
    expect(restarted.core.status()).toMatchObject({ role: 'preCandidate', term: 1 });
    cluster.lose = () => false;
    cluster.tick();
    expect(restarted.core.status()).toMatchObject({ role: 'follower', leader: memberId(1) });
    expect(cluster.replica(1).core.status()).toMatchObject({ role: 'leader', term: 1 });
  });

  it('waits a whole election timeout after a start when leases may count on it', () => {
    for (let seed = 1; seed <= 50; seed += 1) {
      const random = mulberry32(seed);
      const cluster = new TestCluster([1, 2, 3], { random, leaseReads: true });
      cluster.tick(TEST_OPTIONS.electionTicks - 1);
      for (const { core } of cluster.replicas.values()) {
        expect(core.status(), `seed ${seed}`).toMatchObject({ role: 'follower', term: 0 });
      }
    }
  });

  it('refuses votes while a leader is heard, except at that leader’s own wish', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const voter = cluster.replica(2);
    const request = {
      kind: 'voteRequest',
      from: memberId(3),
      to: memberId(2),
      term: 9,
      preVote: false,
      lastIndex: 9 as LogIndex,
      lastTerm: 9,
      transfer: false,
    } as const;
    voter.core.step(request);
    cluster.settle();
    expect(voter.core.status().term).toBe(1);
    voter.core.step({ ...request, transfer: true });
    cluster.settle();
    expect(voter.core.status().term).toBe(9);
    expect(voter.disk.hardState).toMatchObject({ term: 9, votedFor: memberId(3) });
  });

  it('tells a vote only once it is on disk, and keeps it over a restart', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const voter = cluster.replica(2);
    cluster.slowDisks.add(voter.id);
    const request = (from: number): Message => ({
      kind: 'voteRequest',
      from: memberId(from),
      to: voter.id,
      term: 4,
      preVote: false,
      lastIndex: 0 as LogIndex,
      lastTerm: 0,
      transfer: false,
    });
    voter.core.step(request(1));
    voter.pump();
    expect(voter.outgoing).toEqual([]);
    voter.finishWrite();
    voter.pump();
    expect(voter.outgoing).toMatchObject([{ kind: 'voteResponse', granted: true, term: 4 }]);
    voter.restart();
    voter.core.step(request(3));
    voter.pump();
    expect(voter.outgoing).toMatchObject([{ kind: 'voteResponse', granted: false, term: 4 }]);
  });

  it('does not vote for a log that lacks entries', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.isolated.add(memberId(3));
    cluster.propose(leader, 3);
    cluster.settle();
    cluster.isolated.clear();
    cluster.isolated.add(memberId(1));
    for (let ticks = 0; ticks < 60; ticks += 1) cluster.tick();
    expect(cluster.leader()?.id).toBe(memberId(2));
  });

  it('steps down within two election timeouts of losing its quorum', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    leader.core.readIndex(1);
    cluster.isolated.add(leader.id);
    leader.core.readIndex(2);
    for (let ticks = 0; ticks < 20; ticks += 1) leader.core.tick();
    cluster.settle();
    expect(leader.core.status()).toMatchObject({ role: 'follower', leader: undefined });
    expect(leader.seen.readStates.map((state) => state.index)).toEqual([undefined, undefined]);
  });

  it('resolves a replica that is stuck in a higher term', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const stuck = cluster.replica(3);
    stuck.disk.hardState = { ...stuck.disk.hardState, term: 7 };
    stuck.restart();
    cluster.tick(60);
    const leader = cluster.leader()!;
    expect(leader.core.status().term).toBeGreaterThan(7);
    expect(stuck.core.status().leader).toBe(leader.id);
  });

  it('takes part in nothing before it is admitted', () => {
    const cluster = new TestCluster([1, 2], {}, votersOf(1, 2, 3));
    const fresh = cluster.add(3, { ...emptyDisk(votersOf(1, 2, 3)), admitted: false });
    cluster.elect(1);
    cluster.propose(cluster.replica(1));
    fresh.core.readIndex(1);
    cluster.tick(50);
    expect(fresh.core.status()).toMatchObject({ term: 0, lastIndex: 0, role: 'follower' });
    expect(fresh.seen.readStates).toEqual([{ context: 1, index: undefined }]);
    fresh.core.tell({ kind: 'admitted' });
    cluster.tick(2);
    expect(fresh.core.status()).toMatchObject({ leader: memberId(1), commitIndex: 2 });
  });
});

describe('replication', () => {
  it('commits on all replicas', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.propose(leader, 5);
    cluster.settle();
    expect(cluster.commitIndexes()).toEqual([6, 6, 6]);
    for (const replica of cluster.replicas.values()) expect(replica.delivered).toBe(6);
  });

  it('sends before the own write is done, commits by the others, applies after the own write', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.slowDisks.add(leader.id);
    cluster.propose(leader, 2);
    cluster.settle();
    expect(leader.core.status()).toMatchObject({ commitIndex: 3, stableIndex: 1 });
    expect(leader.delivered).toBe(1);
    leader.finishWrite();
    cluster.settle();
    expect(leader.delivered).toBe(3);
  });

  it('acknowledges only what is durable', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    for (const number of [2, 3]) cluster.slowDisks.add(memberId(number));
    cluster.propose(leader, 2);
    cluster.settle();
    cluster.tick(3);
    expect(leader.core.status()).toMatchObject({ commitIndex: 1, role: 'leader' });
    cluster.replica(2).finishWrite();
    cluster.settle();
    expect(leader.core.status().commitIndex).toBe(3);
  });

  it('counts only entries of its own term as committed', () => {
    const cluster = new TestCluster([1, 2, 3], { appendEntriesMax: 1 });
    const { disk } = cluster.replica(1);
    fill(disk.entries, 2, 1);
    disk.hardState = { ...disk.hardState, term: 3 };
    cluster.replica(1).restart();
    // Entries of the new term arrive nowhere, except where they are refused.
    cluster.lose = (message) =>
      message.kind === 'appendRequest' &&
      message.entries[0]?.term === 4 &&
      cluster.replicas.get(message.to)!.lastDurableIndex > 0;
    const leader = cluster.elect(1);
    cluster.tick(3);
    expect(cluster.replica(2).lastDurableIndex).toBe(1);
    expect(cluster.replica(3).lastDurableIndex).toBe(1);
    expect(leader.core.status()).toMatchObject({ role: 'leader', term: 4, commitIndex: 0 });
    cluster.lose = () => false;
    cluster.tick(3);
    expect(cluster.commitIndexes()).toEqual([2, 2, 2]);
  });

  it('does not call committed what it has not compared', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const follower = cluster.replica(2);
    fill(follower.disk.entries, 1, 5);
    follower.disk.hardState = { ...follower.disk.hardState, term: 1 };
    follower.restart();
    const [first] = follower.disk.entries;
    follower.core.step({ ...append(LOG_ORIGIN, [first!]), term: 2, commitIndex: 4 as LogIndex });
    cluster.settle();
    expect(follower.core.status()).toMatchObject({ lastIndex: 5, commitIndex: 1 });
  });

  it('drops what a deposed leader left and takes the new leader’s entries', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const old = cluster.elect(1);
    cluster.isolated.add(old.id);
    cluster.propose(old, 50);
    cluster.settle();
    expect(old.core.status()).toMatchObject({ commitIndex: 1, lastIndex: 51 });
    for (let ticks = 0; ticks < 60; ticks += 1) cluster.tick();
    const leader = cluster.leader()!;
    cluster.propose(leader, 3);
    cluster.settle();
    cluster.isolated.clear();
    cluster.tick(3);
    expect(new Set(cluster.commitIndexes())).toEqual(new Set([leader.core.status().commitIndex]));
    expect(old.disk.entries).toEqual(leader.disk.entries);
  });

  it('backs off over whole terms when logs differ', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const stale = cluster.replica(3).disk;
    const fresh = [cluster.replica(1).disk, cluster.replica(2).disk];
    fill(stale.entries, 2, 300);
    fill(stale.entries, 3, 300);
    for (const disk of fresh) {
      fill(disk.entries, 4, 20);
      disk.hardState = { ...disk.hardState, term: 4 };
    }
    stale.hardState = { ...stale.hardState, term: 4 };
    for (const replica of cluster.replicas.values()) replica.restart();
    let appends = 0;
    cluster.lose = (message) => {
      if (message.kind === 'appendRequest' && message.to === memberId(3)) appends += 1;
      return false;
    };
    const leader = cluster.elect(1);
    cluster.tick(2);
    expect(stale.entries).toEqual(leader.disk.entries);
    expect(appends).toBeLessThan(10);
  });

  it('keeps no more in flight than its window, and sends what waited in one batch', () => {
    const cluster = new TestCluster([1, 2, 3], { inFlightMessagesMax: 2 });
    const leader = cluster.elect(1);
    const sent: AppendRequest[] = [];
    cluster.lose = (message) => {
      if (message.kind !== 'appendRequest' || message.to !== memberId(2)) return false;
      if (message.entries.length > 0) sent.push(message);
      return true;
    };
    for (let count = 0; count < 6; count += 1) {
      cluster.propose(leader);
      cluster.settle();
    }
    expect(sent.length).toBe(2);
    cluster.lose = (message) => {
      if (message.kind === 'appendRequest' && message.to === memberId(2)) sent.push(message);
      return false;
    };
    cluster.tick(3);
    expect(cluster.replica(2).core.status().commitIndex).toBe(7);
    expect(sent.some((message) => message.entries.length >= 4)).toBe(true);
  });

  it('reads from disk what a slow follower needs and memory no longer has', () => {
    const cluster = new TestCluster([1, 2, 3], { cacheEntriesMax: 5, appendEntriesMax: 7 });
    const leader = cluster.elect(1);
    cluster.isolated.add(memberId(3));
    for (let count = 0; count < 10; count += 1) {
      cluster.propose(leader, 10);
      cluster.settle();
    }
    cluster.isolated.clear();
    cluster.tick(5);
    expect(cluster.replica(3).core.status().commitIndex).toBe(101);
    expect(cluster.replica(3).disk.entries).toEqual(leader.disk.entries);
  });

  it('asks the disk for entries that are gone once a heartbeat, until it knows of the cut', () => {
    const cluster = new TestCluster([1, 2, 3], { cacheEntriesMax: 5 });
    const leader = cluster.elect(1);
    cluster.isolated.add(memberId(3));
    cluster.propose(leader, 100);
    cluster.settle();
    let askedCount = 0;
    const { finishRead } = leader;
    leader.finishRead = () => {
      const request = leader.reads.shift();
      if (!request) return;
      askedCount += 1;
      leader.core.tell({ kind: 'entriesRead', request, entries: undefined });
    };
    cluster.isolated.clear();
    const tickCount = 12;
    cluster.tick(tickCount);
    expect(askedCount).toBeGreaterThan(0);
    expect(askedCount).toBeLessThanOrEqual(tickCount);
    leader.finishRead = finishRead;
    cluster.tick(tickCount);
    expect(cluster.replica(3).core.status().commitIndex).toBe(101);
  });

  it('starts anew where a peer’s stream broke', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.lose = (message) => message.to === memberId(3);
    cluster.propose(leader, 3);
    cluster.settle();
    cluster.lose = () => false;
    leader.core.tell({ kind: 'peerUnreachable', peer: memberId(3) });
    cluster.settle();
    expect(cluster.replica(3).core.status().commitIndex).toBe(4);
  });

  it('takes nothing of a damaged message and counts it', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const follower = cluster.replica(2);
    const entry = entryAfter(leader.disk.entries.at(-1)!, 1, 'command', Buffer.from('whole'));
    follower.core.step(
      append(leader.disk.entries.at(-1)!, [{ ...entry, data: Buffer.from('torn!') }]),
    );
    cluster.settle();
    expect(follower.core.status()).toMatchObject({ lastIndex: 1, damagedAppends: 1 });
  });

  it('stops when the same entry differs on two replicas', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const other = entryAfter(LOG_ORIGIN, 1, 'command', Buffer.from('not the empty entry'));
    const follower = cluster.replica(2);
    expect(() => follower.core.step(append(LOG_ORIGIN, [other]))).toThrow(InvariantError);
  });

  it('stops rather than truncate what is committed, or follow a second leader of a term', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const other = entryAfter(LOG_ORIGIN, 2, 'empty', EMPTY);
    const request = { ...append(LOG_ORIGIN, [other]), term: 2, from: memberId(3) };
    expect(() => cluster.replica(2).core.step(request)).toThrow(/committed/);
    const second = { ...append(LOG_ORIGIN, []), from: memberId(3) };
    expect(() => cluster.replica(2).core.step({ ...second, term: 2 })).not.toThrow();
    expect(() => cluster.replica(2).core.step({ ...second, term: 2, from: memberId(1) })).toThrow(
      /both lead/,
    );
  });

  it('hands over no more than the state can take', () => {
    const cluster = new TestCluster([1], { unappliedEntriesMax: 4 });
    const leader = cluster.elect(1);
    cluster.propose(leader, 20);
    leader.pump();
    leader.finishWrite();
    leader.pump();
    expect(leader.delivered).toBe(5);
    leader.pump();
    expect(leader.delivered).toBe(5);
    leader.core.tell({ kind: 'applied', index: 3 as LogIndex });
    leader.pump();
    expect(leader.delivered).toBe(7);
    leader.apply();
    leader.pump();
    expect(leader.delivered).toBe(11);
  });
});

describe('proposals', () => {
  it('are forwarded by a follower and refused without a leader', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const ids = cluster.propose(cluster.replica(2), 2);
    cluster.settle();
    expect(cluster.replica(2).seen.refusals).toEqual([{ ids, code: 'NoLeader' }]);
    cluster.elect(1);
    cluster.propose(cluster.replica(2), 150);
    cluster.settle();
    expect(cluster.commitIndexes()).toEqual([151, 151, 151]);
  });

  it('are refused by a replica that no longer leads', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const [id] = cluster.propose(cluster.replica(2));
    cluster.replica(2).pump();
    const [request] = cluster.replica(2).outgoing.splice(0);
    cluster.elect(3);
    cluster.replica(1).core.step(request!);
    cluster.settle();
    expect(cluster.replica(2).seen.refusals).toEqual([{ ids: [id], code: 'NoLeader' }]);
  });

  it('are refused above the bound of uncommitted bytes, but an empty log takes one of any size', () => {
    const cluster = new TestCluster([1, 2, 3], { uncommittedBytesMax: 1_000 });
    const leader = cluster.elect(1);
    cluster.isolated.add(memberId(2)).add(memberId(3));
    cluster.propose(leader, 1, 5_000);
    const refused = cluster.propose(leader, 2, 10);
    cluster.settle();
    expect(leader.seen.refusals).toEqual([{ ids: refused, code: 'QueueFull' }]);
    cluster.isolated.clear();
    cluster.tick(3);
    expect(leader.core.status()).toMatchObject({ commitIndex: 2, uncommittedBytes: 0 });
    cluster.propose(leader, 2, 10);
    cluster.settle();
    expect(leader.core.status().commitIndex).toBe(4);
  });

  it('are refused when they could not be read again', () => {
    const cluster = new TestCluster([1]);
    const leader = cluster.elect(1);
    const ids = cluster.propose(leader, 1, 4 * 1024 * 1024 + 1);
    cluster.settle();
    expect(leader.seen.refusals).toEqual([{ ids, code: 'TooLarge' }]);
    expect(leader.core.status().lastIndex).toBe(1);
  });
});

function append(
  previous: Pick<Entry, 'index' | 'term' | 'checksum'>,
  entries: Entry[],
): AppendRequest {
  return {
    kind: 'appendRequest',
    from: memberId(1),
    to: memberId(2),
    term: 1,
    previous,
    entries,
    commitIndex: 0 as LogIndex,
  };
}

function fill(entries: Entry[], term: number, count: number): void {
  for (let done = 0; done < count; done += 1) {
    entries.push(entryAfter(entries.at(-1) ?? LOG_ORIGIN, term, 'command', Buffer.from([term])));
  }
}

describe('a configuration in the log', () => {
  it('must be readable', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const last = cluster.replica(1).disk.entries.at(-1)!;
    const bad = entryAfter(last, 1, 'configuration', Buffer.from('{'));
    expect(() => cluster.replica(2).core.step(append(last, [bad]))).toThrow(/not JSON/);
    const none = encodeConfiguration({ voters: [], learners: [] });
    const empty = entryAfter(last, 1, 'configuration', none);
    expect(() =>
      cluster.replica(3).core.step({ ...append(last, [empty]), to: memberId(3) }),
    ).toThrow(/no voters/);
  });
});
