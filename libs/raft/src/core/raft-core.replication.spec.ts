/** Scenarios of replication: appends, commits, conflicts, slow followers and damaged messages. */

import { describe, expect, it } from 'vitest';
import { asLogIndex, asTerm, branded } from './brands.js';
import { collectMarks, type MarkName } from './coverage-marks.js';
import { InvariantError } from './invariant.js';
import { entryAfter, logOrigin } from './log/entry-checksum.js';
import type { AppendRequest, Message } from './messages.js';
import { append, fill } from './testing/appends.js';
import { memberId, TestCluster } from './testing/test-cluster.js';

const noData = Buffer.alloc(0);

describe('replication', () => {
  it('sends fewer heartbeats while every member has everything', () => {
    const cluster = new TestCluster([1, 2, 3], { idleHeartbeatTicks: 4 });
    const leader = cluster.elect(1);
    let heartbeats = 0;
    cluster.lose = ({ kind, to }) => {
      if (kind === 'heartbeatRequest' && to === memberId(2)) heartbeats += 1;
      return false;
    };
    const heartbeatsIn = (ticks: number) => {
      heartbeats = 0;
      cluster.tick(ticks);
      return heartbeats;
    };
    expect(heartbeatsIn(40)).toBe(10);
    cluster.isolated.add(memberId(3));
    expect(heartbeatsIn(8)).toBe(2);
    cluster.propose(leader);
    expect(heartbeatsIn(10)).toBe(10);
    cluster.isolated.clear();
    cluster.tick(10);
    expect(heartbeatsIn(40)).toBe(10);
    expect(cluster.commitIndexes()).toEqual([2, 2, 2]);
    expect(cluster.leader()).toBe(leader);
  });

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

  it('acknowledges only durable entries', () => {
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
    disk.hardState = { ...disk.hardState, term: asTerm(3) };
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

  it('does not commit entries that it has not compared', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const follower = cluster.replica(2);
    fill(follower.disk.entries, 1, 5);
    follower.disk.hardState = { ...follower.disk.hardState, term: asTerm(1) };
    follower.restart();
    const [first] = follower.disk.entries;
    follower.core.step({
      ...append(logOrigin, [first!]),
      term: asTerm(2),
      commitIndex: asLogIndex(4),
    });
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
      disk.hardState = { ...disk.hardState, term: asTerm(4) };
    }
    stale.hardState = { ...stale.hardState, term: asTerm(4) };
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

  it('reads missing entries from disk once per heartbeat until it learns of the compaction', () => {
    const cluster = new TestCluster([1, 2, 3], { cacheEntriesMax: 5 });
    const leader = cluster.elect(1);
    cluster.isolated.add(memberId(3));
    cluster.propose(leader, 100);
    cluster.settle();
    let readCount = 0;
    const { finishRead } = leader;
    leader.finishRead = () => {
      const request = leader.reads.shift();
      if (!request) return;
      readCount += 1;
      leader.core.handle({ kind: 'entriesRead', request, entries: undefined });
    };
    cluster.isolated.clear();
    const tickCount = 12;
    cluster.tick(tickCount);
    expect(readCount).toBeGreaterThan(0);
    expect(readCount).toBeLessThanOrEqual(tickCount);
    leader.finishRead = finishRead;
    cluster.tick(tickCount);
    expect(cluster.replica(3).core.status().commitIndex).toBe(101);
  });

  it('probes again after the stream of a peer broke', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.lose = (message) => message.to === memberId(3);
    cluster.propose(leader, 3);
    cluster.settle();
    cluster.lose = () => false;
    leader.core.handle({ kind: 'peerUnreachable', peer: memberId(3), connected: false });
    cluster.settle();
    expect(cluster.replica(3).core.status().commitIndex).toBe(4);
  });

  it('takes nothing of a damaged message and counts it', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const follower = cluster.replica(2);
    const entry = entryAfter(
      leader.disk.entries.at(-1)!,
      asTerm(1),
      'command',
      Buffer.from('whole'),
    );
    follower.core.step(
      append(leader.disk.entries.at(-1)!, [{ ...entry, data: Buffer.from('torn!') }]),
    );
    cluster.settle();
    expect(follower.core.status()).toMatchObject({ lastIndex: 1, damagedAppends: 1 });
  });

  it('stops when the same entry differs on two replicas', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const other = entryAfter(logOrigin, asTerm(1), 'command', Buffer.from('not the empty entry'));
    const follower = cluster.replica(2);
    expect(() => follower.core.step(append(logOrigin, [other]))).toThrow(InvariantError);
  });

  it('stops rather than truncate committed entries, or follow a second leader of a term', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const other = entryAfter(logOrigin, asTerm(2), 'empty', noData);
    const request = { ...append(logOrigin, [other]), term: 2, from: memberId(3) };
    expect(() => cluster.replica(2).core.step(branded(request))).toThrow(/committed/);
    const second = { ...append(logOrigin, []), from: memberId(3) };
    expect(() => cluster.replica(2).core.step({ ...second, term: asTerm(2) })).not.toThrow();
    expect(() =>
      cluster.replica(2).core.step({ ...second, term: asTerm(2), from: memberId(1) }),
    ).toThrow(/both lead/);
  });

  it('ignores responses that report more than the log of the leader', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const marks = new Set<MarkName>();
    collectMarks((name) => marks.add(name));
    const response = {
      ...{ from: memberId(2), to: memberId(1), term: 1, accepted: true, needsSnapshot: false },
      ...{ refusedIndex: 0, hintIndex: 0, hintTerm: 0, matchIndex: 1, appliedIndex: 1 },
    };
    for (const more of [{ matchIndex: 9 }, { appliedIndex: 9 }]) {
      marks.clear();
      leader.core.step(branded<Message>({ kind: 'appendResponse', ...response, ...more }));
      expect(marks).toContain('responseBeyondLog');
    }
    collectMarks(undefined);
    cluster.propose(leader, 1);
    cluster.settle();
    expect(leader.core.status().progress).toMatchObject([
      { id: memberId(2), matchIndex: 2, state: 'replicate' },
      { id: memberId(3), matchIndex: 2, state: 'replicate' },
    ]);
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
    leader.core.handle({ kind: 'applied', index: asLogIndex(3) });
    leader.pump();
    expect(leader.delivered).toBe(7);
    leader.apply();
    leader.pump();
    expect(leader.delivered).toBe(11);
  });
});
