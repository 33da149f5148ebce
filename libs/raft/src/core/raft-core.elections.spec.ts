/** Scenarios of elections: pre-votes, votes, lost quorums and restarts. */

import { describe, expect, it } from 'vitest';
import { asLogIndex, asTerm, branded, noIndex } from './brands.js';
import type { Message } from './messages.js';
import { mulberry32 } from './testing/mulberry32.js';
import { memberId, TestCluster, testOptions, votersOf } from './testing/test-cluster.js';
import { emptyDisk } from './testing/test-replica.js';

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
      for (let ticks = 1; ticks < testOptions.electionTicks; ticks += 1) {
        // Not at the same moment: clocks never are.
        for (const { core } of cluster.replicas.values()) {
          core.tick();
          cluster.settle();
        }
      }
      expect(cluster.leader(), `seed ${seed}`).toBeDefined();
    }
  });

  it('starts an early pre-vote that fails while others hear a leader, and disturbs no replica', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const restarted = cluster.replica(3);
    restarted.restart();
    cluster.lose = ({ from, to }) => from === memberId(1) && to === memberId(3);
    cluster.tick(testOptions.electionTicks - 1);
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
      cluster.tick(testOptions.electionTicks - 1);
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
      lastIndex: asLogIndex(9),
      lastTerm: 9,
      transfer: false,
    } as const;
    voter.core.step(branded(request));
    cluster.settle();
    expect(voter.core.status().term).toBe(1);
    voter.core.step(branded({ ...request, transfer: true }));
    cluster.settle();
    expect(voter.core.status().term).toBe(9);
    expect(voter.disk.hardState).toMatchObject({ term: 9, votedFor: memberId(3) });
  });

  it('sends a vote only once it is on disk, and remembers it after a restart', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const voter = cluster.replica(2);
    cluster.slowDisks.add(voter.id);
    const request = (from: number): Message => ({
      kind: 'voteRequest',
      from: memberId(from),
      to: voter.id,
      term: asTerm(4),
      preVote: false,
      lastIndex: noIndex,
      lastTerm: asTerm(0),
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
    stuck.disk.hardState = { ...stuck.disk.hardState, term: asTerm(7) };
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
    fresh.core.handle({ kind: 'admitted' });
    cluster.tick(2);
    expect(fresh.core.status()).toMatchObject({ leader: memberId(1), commitIndex: 2 });
  });
});
