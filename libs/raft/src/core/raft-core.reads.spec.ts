/** Scenarios of reads that must not be stale, and of handing over the lead. */

import { describe, expect, it } from 'vitest';
import { asTerm, noIndex } from './brands.js';
import type { HeartbeatRequest, HeartbeatResponse, Message } from './messages.js';
import { memberId, TestCluster } from './testing/test-cluster.js';

describe('a read', () => {
  it('succeeds after one round to a quorum, without waiting for a tick', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    leader.core.readIndex(7);
    cluster.settle();
    expect(leader.seen.readStates).toEqual([{ context: 7, index: 1 }]);
  });

  it('shares a round only with reads that arrived before it began', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const rounds = recordRounds(cluster);
    leader.core.readIndex(1);
    leader.core.readIndex(2);
    leader.pump();
    leader.core.readIndex(3);
    leader.core.readIndex(4);
    leader.pump();
    expect(new Set(leader.outgoing.map((message) => roundOf(message)))).toEqual(new Set([1]));
    cluster.settle();
    expect(leader.seen.readStates.map((state) => state.context)).toEqual([1, 2, 3, 4]);
    expect(rounds()).toEqual([1, 2]);
  });

  it('does not count an acknowledgement of an earlier round', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    leader.core.readIndex(1);
    cluster.settle();
    cluster.isolated.add(memberId(2)).add(memberId(3));
    leader.core.readIndex(2);
    cluster.settle();
    const stale: HeartbeatResponse = {
      kind: 'heartbeatResponse',
      from: memberId(2),
      to: leader.id,
      term: asTerm(1),
      context: 1,
      appliedIndex: noIndex,
      diskLatencyMs: 0,
    };
    leader.core.step(stale);
    cluster.settle();
    expect(leader.seen.readStates.map((state) => state.context)).toEqual([1]);
    leader.core.step({ ...stale, context: 2 });
    cluster.settle();
    expect(leader.seen.readStates.map((state) => state.context)).toEqual([1, 2]);
  });

  it('never succeeds at a leader that was replaced without its knowledge', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const old = cluster.elect(1);
    cluster.isolated.add(old.id);
    for (let ticks = 0; ticks < 60 && cluster.leader() === old; ticks += 1) {
      for (const number of [2, 3]) cluster.replica(number).core.tick();
      cluster.settle();
    }
    const next = cluster.leader()!;
    expect(next).not.toBe(old);
    cluster.propose(next);
    cluster.settle();
    old.core.readIndex(1);
    cluster.isolated.clear();
    cluster.tick(3);
    expect(old.seen.readStates).toEqual([{ context: 1, index: undefined }]);
    old.core.readIndex(2);
    cluster.settle();
    expect(old.seen.readStates.at(-1)).toEqual({ context: 2, index: 3 });
  });

  it('of a new leader waits until an entry of its own term is committed', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    cluster.lose = (message) => message.kind === 'appendResponse';
    const leader = cluster.elect(2);
    leader.core.readIndex(1);
    cluster.tick(3);
    expect(leader.core.status().role).toBe('leader');
    expect(leader.seen.readStates).toEqual([]);
    cluster.lose = () => false;
    cluster.tick(2);
    expect(leader.seen.readStates).toEqual([{ context: 1, index: 2 }]);
  });

  it('of a follower or learner goes to the leader, or fails and is retried', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const follower = cluster.replica(3);
    follower.core.readIndex(1);
    cluster.settle();
    cluster.elect(1);
    follower.core.readIndex(2);
    cluster.settle();
    cluster.isolated.add(follower.id);
    follower.core.readIndex(3);
    for (let ticks = 0; ticks < 11; ticks += 1) follower.core.tick();
    cluster.settle();
    expect(follower.seen.readStates).toEqual([
      { context: 1, index: undefined },
      { context: 2, index: 1 },
      { context: 3, index: undefined },
    ]);
  });

  it('survives the loss of a heartbeat', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.lose = (message) => message.kind === 'heartbeatRequest';
    leader.core.readIndex(1);
    cluster.settle();
    expect(leader.seen.readStates).toEqual([]);
    cluster.lose = () => false;
    cluster.tick();
    expect(leader.seen.readStates).toEqual([{ context: 1, index: 1 }]);
  });

  it('from a lease needs no round, until the lead is being given away', () => {
    const cluster = new TestCluster([1, 2, 3], { leaseReads: true });
    for (let ticks = 0; ticks < 10; ticks += 1) cluster.replica(2).core.tick();
    const leader = cluster.elect(1);
    cluster.tick(2);
    leader.core.readIndex(1);
    leader.pump();
    expect(leader.seen.readStates).toEqual([{ context: 1, index: 1 }]);
    cluster.isolated.add(memberId(2)).add(memberId(3));
    for (let ticks = 0; ticks < 9; ticks += 1) leader.core.tick();
    leader.core.readIndex(2);
    leader.pump();
    expect(leader.seen.readStates.length).toBe(1);
  });

  it('does not use a lease once timeoutNow was sent to the target of a transfer', () => {
    const cluster = new TestCluster([1, 2, 3], { leaseReads: true });
    for (let ticks = 0; ticks < 10; ticks += 1) cluster.replica(2).core.tick();
    const leader = cluster.elect(1);
    cluster.tick(2);
    leader.core.transferLeadership(1, memberId(2));
    leader.pump();
    leader.core.readIndex(1);
    leader.pump();
    expect(leader.seen.readStates).toEqual([]);
  });
});

describe('handing over the lead', () => {
  it('brings the target up to date, then lets it campaign immediately', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.lose = (message) => message.to === memberId(3) && message.kind === 'appendRequest';
    cluster.propose(leader, 5);
    cluster.settle();
    leader.core.transferLeadership(1, memberId(3));
    const refused = cluster.propose(leader, 1);
    cluster.settle();
    expect(leader.seen.refusals).toEqual([{ ids: refused, code: 'Transferring' }]);
    expect(leader.core.status()).toMatchObject({ role: 'leader', transferring: true });
    cluster.lose = () => false;
    cluster.tick(2);
    expect(cluster.replica(3).core.status()).toMatchObject({ role: 'leader', commitIndex: 7 });
    expect(leader.seen.transferResults).toEqual([{ requestId: 1 }]);
  });

  it('picks the voter with the longest log when no target is named', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.lose = (message) => message.to === memberId(2) && message.kind === 'appendRequest';
    cluster.propose(leader, 5);
    cluster.settle();
    leader.core.transferLeadership(1, undefined);
    cluster.settle();
    expect(cluster.replica(3).core.status().role).toBe('leader');
  });

  it('remains leader when the target is not elected in time', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.lose = (message) => message.kind === 'timeoutNow';
    leader.core.transferLeadership(1, memberId(2));
    cluster.tick(10);
    expect(leader.seen.transferResults).toMatchObject([
      { requestId: 1, error: { code: 'TimedOut' } },
    ]);
    cluster.propose(leader);
    cluster.settle();
    expect(leader.core.status()).toMatchObject({ role: 'leader', commitIndex: 2 });
    cluster.isolated.add(memberId(2));
    cluster.propose(leader);
    leader.core.transferLeadership(2, memberId(2));
    cluster.tick(10);
    expect(leader.seen.transferResults[1]).toMatchObject({ error: { code: 'TargetLags' } });
  });

  it('reports why it cannot begin', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.replica(1).core.transferLeadership(1, memberId(2));
    const leader = cluster.elect(1);
    leader.core.transferLeadership(2, memberId(9));
    leader.core.transferLeadership(3, memberId(1));
    cluster.settle();
    expect(leader.seen.transferResults).toMatchObject([
      { requestId: 1, error: { code: 'NotLeader' } },
      { requestId: 2, error: { code: 'UnknownMember' } },
      { requestId: 3 },
    ]);
    expect(leader.seen.transferResults[2]).not.toHaveProperty('error');
  });

  it('happens by itself when the own disk stays slow and another is much quicker', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    leader.core.handle({ kind: 'diskLatency', p99Ms: 900 });
    cluster.replica(2).core.handle({ kind: 'diskLatency', p99Ms: 600 });
    cluster.tick(30);
    expect(leader.core.status().role).toBe('leader');
    cluster.replica(3).core.handle({ kind: 'diskLatency', p99Ms: 20 });
    cluster.tick(25);
    expect(cluster.replica(3).core.status().role).toBe('leader');
  });
});

function roundOf(message: Message): number {
  return (message as HeartbeatRequest).context;
}

/** Contexts of the rounds whose heartbeats were sent, in order. */
function recordRounds(cluster: TestCluster): () => number[] {
  const rounds = new Set<number>();
  cluster.lose = (message) => {
    if (message.kind === 'heartbeatRequest' && message.context > 0) rounds.add(message.context);
    return false;
  };
  return () => [...rounds];
}
