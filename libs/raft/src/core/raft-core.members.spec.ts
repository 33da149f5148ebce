/** Scenarios of membership changes, and of snapshots for members that are too far behind. */

import { describe, expect, it } from 'vitest';
import { asLogIndex, asTerm, noIndex } from './brands.js';
import { member, memberId, TestCluster, votersOf } from './testing/test-cluster.js';
import { emptyConfiguration, emptyDisk, type TestReplica } from './testing/test-replica.js';
import type { Configuration, MembershipChange } from './types.js';

describe('members', () => {
  it('join as learners, are promoted and removed again', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.propose(leader, 30);
    const joined = cluster.add(4, emptyDisk(emptyConfiguration));
    expect(change(cluster, leader, { kind: 'addLearner', member: member(4) })).toBeUndefined();
    cluster.tick(2);
    expect(joined.core.status()).toMatchObject({ role: 'learner', commitIndex: 32 });
    expect(change(cluster, leader, { kind: 'promote', id: memberId(4) })).toBeUndefined();
    expect(ids(leader)).toEqual({ voters: [1, 2, 3, 4], learners: [], joint: false });
    cluster.tick();
    expect(joined.core.status().role).toBe('follower');
    expect(change(cluster, leader, { kind: 'remove', id: memberId(2) })).toBeUndefined();
    cluster.tick();
    expect(ids(joined)).toEqual({ voters: [1, 3, 4], learners: [], joint: false });
    expect(cluster.replica(2).core.status().role).toBe('removed');
  });

  it('grow from one to three, whichever replica leads then', () => {
    const cluster = new TestCluster([1]);
    const leader = cluster.elect(1);
    for (const number of [2, 3]) {
      cluster.add(number, emptyDisk(emptyConfiguration));
      change(cluster, leader, { kind: 'addLearner', member: member(number) });
      cluster.tick(2);
      change(cluster, leader, { kind: 'promote', id: memberId(number) });
      cluster.tick(2);
    }
    expect(ids(cluster.elect(3))).toEqual({ voters: [1, 2, 3], learners: [], joint: false });
  });

  it('receive new addresses in one step', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const moved = { ...member(2), peerUrl: 'https://elsewhere:1' };
    expect(change(cluster, leader, { kind: 'update', member: moved })).toBeUndefined();
    cluster.tick();
    const { voters } = cluster.replica(3).core.status().configuration;
    expect(voters).toContainEqual(moved);
  });

  it('change one at a time', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    leader.core.changeMembership(1, { kind: 'addLearner', member: member(4) });
    leader.core.changeMembership(2, { kind: 'remove', id: memberId(3) });
    cluster.settle();
    expect(leader.seen.membershipResults).toMatchObject([
      { requestId: 2, error: { code: 'ChangePending' } },
      { requestId: 1 },
    ]);
  });

  it('are refused with the reason', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const code = (wanted: MembershipChange): string | undefined => change(cluster, leader, wanted);
    expect(code({ kind: 'addLearner', member: { ...member(9), name: 'm2' } })).toBe(
      'DuplicateMember',
    );
    expect(code({ kind: 'promote', id: memberId(9) })).toBe('UnknownMember');
    expect(code({ kind: 'remove', id: memberId(9) })).toBe('UnknownMember');
    change(cluster, cluster.replica(2), { kind: 'remove', id: memberId(3) });
    expect(cluster.replica(2).seen.membershipResults).toMatchObject([
      { error: { code: 'NotLeader' } },
    ]);
    code({ kind: 'addLearner', member: member(4) });
    cluster.propose(leader, 30);
    cluster.settle();
    expect(code({ kind: 'promote', id: memberId(4) })).toBe('LearnerLags');
    cluster.isolated.add(memberId(3));
    cluster.tick(12);
    expect(code({ kind: 'remove', id: memberId(2) })).toBe('WouldLoseQuorum');
    expect(code({ kind: 'remove', id: memberId(3) })).toBeUndefined();
    const alone = new TestCluster([1]);
    expect(change(alone, alone.elect(1), { kind: 'remove', id: memberId(1) })).toBe('LastVoter');
  });

  it('may include the leader: it hands over once its removal is committed', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    expect(change(cluster, leader, { kind: 'remove', id: memberId(1) })).toBeUndefined();
    cluster.tick();
    const next = cluster.leader()!;
    expect(next.id).not.toBe(leader.id);
    expect(ids(next)).toEqual({ voters: [2, 3], learners: [], joint: false });
    expect(leader.core.status().role).toBe('removed');
    cluster.tick(100);
    expect(leader.core.status().role).toBe('removed');
    expect(cluster.leader()).toBe(next);
  });

  it('do not depose the leader once they are removed', () => {
    const cluster = new TestCluster([1, 2, 3, 4]);
    const leader = cluster.elect(1);
    cluster.isolated.add(memberId(4));
    expect(change(cluster, leader, { kind: 'remove', id: memberId(4) })).toBeUndefined();
    const removed = cluster.replica(4);
    removed.disk.hardState = { ...removed.disk.hardState, term: asTerm(50) };
    removed.restart();
    cluster.isolated.clear();
    cluster.tick(100);
    expect(leader.core.status()).toMatchObject({ role: 'leader', term: 1 });
  });

  it('decide with both halves while the change is joint', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    for (const number of [4, 5]) {
      cluster.add(number, emptyDisk(emptyConfiguration));
      change(cluster, leader, { kind: 'addLearner', member: member(number) });
      cluster.tick(2);
    }
    cluster.isolated.add(memberId(2)).add(memberId(3));
    leader.core.changeMembership(90, { kind: 'promote', id: memberId(4) });
    leader.core.readIndex(1);
    cluster.settle();
    const { configuration, configurationIndex, commitIndex } = leader.core.status();
    expect(configuration.outgoing?.length).toBe(3);
    expect(commitIndex).toBeLessThan(configurationIndex);
    expect(leader.seen.readStates).toEqual([]);
    cluster.isolated.clear();
    cluster.tick(2);
    expect(ids(leader)).toEqual({ voters: [1, 2, 3, 4], learners: [5], joint: false });
    expect(leader.seen.readStates.length).toBe(1);
  });

  it('stay joint until the joint configuration itself is committed', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.lose = (message) =>
      message.kind === 'appendRequest' &&
      message.entries.some((entry) => entry.kind === 'configuration');
    cluster.propose(leader);
    leader.pump();
    leader.core.changeMembership(1, { kind: 'remove', id: memberId(3) });
    cluster.settle();
    expect(leader.core.status()).toMatchObject({ commitIndex: 2, lastIndex: 3 });
    expect(ids(leader)).toEqual({ voters: [1, 2], learners: [], joint: true });
    cluster.lose = () => false;
    cluster.tick(3);
    expect(ids(leader)).toEqual({ voters: [1, 2], learners: [], joint: false });
  });

  it('roll back with the entry that changed them', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const old = cluster.elect(1);
    cluster.isolated.add(old.id);
    old.core.changeMembership(1, { kind: 'remove', id: memberId(3) });
    cluster.settle();
    expect(ids(old)).toEqual({ voters: [1, 2], learners: [], joint: true });
    for (let ticks = 0; ticks < 60; ticks += 1) cluster.tick();
    cluster.isolated.clear();
    cluster.tick(3);
    expect(ids(old)).toEqual({ voters: [1, 2, 3], learners: [], joint: false });
    expect(old.seen.membershipResults).toMatchObject([{ error: { code: 'OutcomeUnknown' } }]);
  });

  it('of a joint configuration that its leader left behind are settled by the next one', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const old = cluster.elect(1);
    // The joint entry reaches all replicas, but its leader never learns that.
    cluster.lose = (message) => message.kind === 'appendResponse' && message.to === old.id;
    old.core.changeMembership(1, { kind: 'remove', id: memberId(3) });
    cluster.settle();
    cluster.isolated.add(old.id);
    cluster.lose = () => false;
    const [two, three] = [cluster.replica(2), cluster.replica(3)];
    expect(ids(two)).toEqual({ voters: [1, 2], learners: [], joint: true });
    for (let ticks = 0; ticks < 40; ticks += 1) cluster.tick();
    // Both halves are needed: {1, 2} cannot decide without 1.
    expect([two, three].map((replica) => replica.core.status().role)).not.toContain('leader');
    cluster.isolated.clear();
    for (let ticks = 0; ticks < 60; ticks += 1) cluster.tick();
    expect(ids(cluster.leader()!)).toEqual({ voters: [1, 2], learners: [], joint: false });
  });
});

describe('snapshots', () => {
  it('bring up a replica whose next entry is no longer in the log', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const behind = cluster.replica(3);
    cluster.isolated.add(behind.id);
    cluster.propose(leader, 50);
    cluster.settle();
    leader.flushState();
    leader.cut();
    cluster.isolated.clear();
    cluster.propose(leader, 5);
    cluster.tick(4);
    expect(behind.disk.start.index).toBeGreaterThanOrEqual(51);
    expect(behind.core.status()).toMatchObject({ commitIndex: 56, appliedIndex: 56 });
    expect(leader.core.status().progress.map((peer) => peer.state)).toEqual([
      'replicate',
      'replicate',
    ]);
  });

  it('carry the members', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.propose(leader, 20);
    cluster.settle();
    leader.flushState();
    leader.cut();
    const joined = cluster.add(4, emptyDisk(emptyConfiguration));
    change(cluster, leader, { kind: 'addLearner', member: member(4) });
    cluster.tick(4);
    expect(ids(joined)).toEqual({ voters: [1, 2, 3], learners: [4], joint: false });
    expect(joined.core.status().role).toBe('learner');
    joined.restart();
    expect(joined.core.status().role).toBe('learner');
  });

  it('replace a state that cannot be used, before any entry is taken; votes are given meanwhile', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const damaged = cluster.replica(3);
    cluster.propose(leader, 20);
    cluster.settle();
    damaged.disk.needsSnapshot = true;
    damaged.disk.appliedIndex = noIndex;
    damaged.restart();
    cluster.lose = (message) => message.kind === 'heartbeatRequest' && message.to === damaged.id;
    cluster.propose(leader, 1);
    cluster.settle();
    expect(damaged.core.status()).toMatchObject({ needsSnapshot: false, appliedIndex: 22 });
    cluster.lose = () => false;
    cluster.tick(2);
    expect(damaged.core.status().commitIndex).toBe(22);
  });

  it('come to a replica without a usable state even if it alone has all entries', () => {
    const cluster = new TestCluster([1, 2]);
    const leader = cluster.elect(1);
    cluster.lose = (message) => message.kind === 'appendRequest';
    cluster.propose(leader, 5);
    cluster.settle();
    leader.disk.needsSnapshot = true;
    leader.disk.appliedIndex = noIndex;
    leader.restart();
    cluster.lose = () => false;
    cluster.tick(120);
    const { commitIndex } = cluster.replica(2).core.status();
    expect(commitIndex).toBeGreaterThanOrEqual(7);
    expect(cluster.leader()?.id).toBe(memberId(2));
    expect(leader.core.status()).toMatchObject({ needsSnapshot: false, appliedIndex: commitIndex });
  });

  it('are refused from members other than the leader, and when they are not ahead', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.propose(leader, 5);
    cluster.settle();
    const point = leader.makeSnapshot()!;
    const follower = cluster.replica(2);
    const ahead = { ...point, index: asLogIndex(60) };
    follower.core.handle({ kind: 'snapshotReceived', point, from: leader.id, term: asTerm(1) });
    follower.core.handle({
      kind: 'snapshotReceived',
      point: ahead,
      from: memberId(3),
      term: asTerm(1),
    });
    follower.core.handle({
      kind: 'snapshotReceived',
      point: ahead,
      from: leader.id,
      term: asTerm(0),
    });
    cluster.settle();
    expect(follower.seen.snapshotsRefused).toEqual([point, ahead, ahead]);
    expect(follower.core.status().lastIndex).toBe(6);
  });

  it('are sent again soon after a failure, but not immediately', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.isolated.add(memberId(3));
    cluster.propose(leader, 30);
    cluster.settle();
    leader.flushState();
    leader.cut();
    cluster.isolated.clear();
    const wanted: Configuration = votersOf(1, 2, 3);
    cluster.replica(3).install = undefined;
    leader.core.step({
      kind: 'appendResponse',
      from: memberId(3),
      to: leader.id,
      term: asTerm(1),
      accepted: false,
      matchIndex: noIndex,
      refusedIndex: noIndex,
      hintIndex: noIndex,
      hintTerm: asTerm(0),
      needsSnapshot: true,
      appliedIndex: noIndex,
    });
    leader.pump();
    expect(leader.snapshotsToSend).toEqual([memberId(3)]);
    leader.snapshotsToSend = [];
    leader.core.handle({ kind: 'snapshotSent', to: memberId(3), point: undefined });
    leader.pump();
    expect(leader.snapshotsToSend).toEqual([]);
    cluster.tick(4);
    expect(cluster.replica(3).core.status()).toMatchObject({
      commitIndex: 31,
      configuration: wanted,
    });
  });

  it('need no receipt: the applied index of the receiver shows that it has one', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const damaged = cluster.replica(3);
    cluster.propose(leader, 20);
    cluster.settle();
    // It has lost its state, not its log: the leader knew before that all of it matches.
    damaged.disk.needsSnapshot = true;
    damaged.disk.appliedIndex = noIndex;
    damaged.restart();
    cluster.losesReceipts = true;
    cluster.lose = (message) => message.kind === 'appendResponse' && message.accepted;
    cluster.isolated.add(memberId(2));
    cluster.propose(leader, 1);
    cluster.tick();
    expect(damaged.core.status()).toMatchObject({ needsSnapshot: false, appliedIndex: 21 });
    cluster.lose = () => false;
    cluster.tick(3);
    expect(damaged.core.status()).toMatchObject({ commitIndex: 22, lastIndex: 22 });
  });

  it('leave the rest of the log in place where it agrees', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.propose(leader, 10);
    cluster.settle();
    const damaged = cluster.replica(3);
    const point = cluster.replica(2).makeSnapshot()!;
    cluster.isolated.add(cluster.replica(2).id);
    cluster.propose(leader, 5);
    cluster.settle();
    damaged.disk.needsSnapshot = true;
    damaged.restart();
    cluster.lose = () => true;
    damaged.core.step({
      kind: 'heartbeatRequest',
      from: leader.id,
      to: damaged.id,
      term: asTerm(1),
      commitIndex: noIndex,
      context: 0,
    });
    damaged.core.handle({ kind: 'snapshotReceived', point, from: leader.id, term: asTerm(1) });
    cluster.settle();
    expect(damaged.core.status()).toMatchObject({ firstIndex: 12, lastIndex: 16 });
  });
});

let lastRequestId = 100;

/** The code of the refusal; undefined: it was done. */
function change(
  cluster: TestCluster,
  replica: TestReplica,
  wanted: MembershipChange,
): string | undefined {
  lastRequestId += 1;
  const requestId = lastRequestId;
  replica.core.changeMembership(requestId, wanted);
  cluster.settle();
  const result = replica.seen.membershipResults.find((item) => item.requestId === requestId);
  if (!result) throw new Error('the change was not answered');
  return result.error?.code;
}

function ids(replica: TestReplica): { voters: number[]; learners: number[]; joint: boolean } {
  const { configuration } = replica.core.status();
  const number = ({ id }: { id: string }): number => Number.parseInt(id, 16);
  return {
    voters: configuration.voters.map(number),
    learners: configuration.learners.map(number),
    joint: configuration.outgoing !== undefined,
  };
}
