import { afterEach, describe, expect, it } from 'vitest';
import { asMemberId } from '../core/brands.js';
import type { LogStatus } from '../replicated-log.js';
import { type Node, ReplicaCluster } from '../testing/replica-cluster.js';

let cluster: ReplicaCluster;
afterEach(() => cluster.stopAll());

const memberId = ({ log }: Node) => log.status().self.id;
const texts = () => [...cluster.nodes.values()].map(({ state }) => state.texts);

async function three(): Promise<Node> {
  cluster = new ReplicaCluster(['a', 'b', 'c']);
  return cluster.startAndElect();
}

describe('InThreadReplicatedLog, alone', () => {
  it('commits proposals in order, and recovers them after a crash', async () => {
    cluster = new ReplicaCluster(['a']);
    let node = await cluster.start('a');
    await cluster.untilLeader();
    for (const text of ['one', 'two', 'three']) cluster.propose(node, text);
    await cluster.applied('three');
    expect(node.state.texts).toEqual(['', 'one', 'two', 'three']);
    expect(await cluster.settle(node.log.readBarrier(cluster.deadline()))).toBe(4);
    cluster.kill('a', { machine: true });
    node = await cluster.start('a');
    await cluster.applied('three');
    expect(node.state.texts.slice(0, 4)).toEqual(['', 'one', 'two', 'three']);
    expect(node.fatal).toEqual([]);
  });

  it('delivers at the pace of the state, and reads evicted entries from disk', async () => {
    cluster = new ReplicaCluster(['a']);
    const tuning = { cacheEntriesMax: 10, unappliedEntriesMax: 20 };
    let node = await cluster.start('a', { tuning });
    await cluster.untilLeader();
    for (let count = 1; count <= 500; count += 1) cluster.propose(node, `${count}`);
    await cluster.applied('500');
    cluster.kill('a');
    node = await cluster.start('a', { tuning });
    const sizes: number[] = [];
    node.state.beforeApply = (entries) => {
      sizes.push(entries.length);
      return new Promise((resolve) => cluster.clock.setTimer(1, resolve));
    };
    await cluster.applied('500');
    expect(node.state.texts.filter((text) => text !== '')).toHaveLength(500);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(20);
  });

  it('is compacted up to the state on disk, except for the retained entries', async () => {
    cluster = new ReplicaCluster(['a']);
    let node = await cluster.start('a', { tuning: { logKeepEntries: 5 } });
    await cluster.untilLeader();
    for (let count = 1; count <= 50; count += 1) cluster.propose(node, `${count}`);
    await cluster.applied('50');
    await cluster.settle(node.log.truncate(node.state.checkpoint()));
    expect(node.log.status()).toMatchObject({ firstIndex: 47, lastIndex: 51 });
    cluster.kill('a', { machine: true });
    node = await cluster.start('a');
    await cluster.untilLeader();
    cluster.propose(node, 'after');
    await cluster.applied('after');
    expect(node.state.texts.slice(0, 51)).toHaveLength(51);
  });

  it('refuses a state that is not of this log', async () => {
    cluster = new ReplicaCluster(['a']);
    const node = await cluster.start('a');
    await cluster.untilLeader();
    cluster.propose(node, 'one');
    await cluster.applied('one');
    node.state.checkpoint();
    await cluster.stop('a');
    cluster.disk('a').appliedIndex = 99;
    await expect(cluster.start('a')).rejects.toMatchObject({
      code: 'Corrupt',
      message: expect.stringContaining('entries were lost'),
    });
    cluster.nodes.clear();
    node.disk.wipe('log');
    await expect(cluster.start('a')).rejects.toMatchObject({
      code: 'BadDirectory',
      message: expect.stringContaining('but no log'),
    });
    cluster.nodes.clear();
  });

  it('ends the process when a write fails, and has promised nothing of it', async () => {
    cluster = new ReplicaCluster(['a']);
    const node = await cluster.start('a');
    await cluster.untilLeader();
    cluster.propose(node, 'before');
    await cluster.applied('before');
    node.disk.faults.syncErrorRate = 1;
    const barrier = node.log
      .readBarrier(cluster.deadline())
      .catch((error: { code: string }) => error.code);
    cluster.propose(node, 'lost');
    await cluster.until(() => node.fatal.length > 0, 'the failure is fatal');
    expect(node.fatal.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^writing the log failed: EIO/),
    ]);
    expect(node.state.texts).not.toContain('lost');
    expect([3, 2, 'Stopped']).toContain(await cluster.settle(barrier));
  });
});

describe('InThreadReplicatedLog, three together', () => {
  it('elects one leader and replicates what any of them is given', async () => {
    const leader = await three();
    const [follower] = cluster.followers();
    cluster.propose(leader, 'from the leader');
    await cluster.applied('from the leader');
    cluster.propose(follower!, 'from a follower');
    await cluster.applied('from a follower');
    const [first, second, third] = texts();
    expect(second).toEqual(first);
    expect(third).toEqual(first);
    const index = await cluster.settle(follower!.log.readBarrier(cluster.deadline()));
    expect(index).toBe(leader.log.status().commitIndex);
  });

  it('continues when the leader crashes, and replicates the missed entries to it afterwards', async () => {
    const leader = await three();
    cluster.propose(leader, 'before');
    await cluster.applied('before');
    cluster.kill(leader.name, { machine: true });
    const next = await cluster.untilLeader();
    expect(next.log.status().term).toBeGreaterThan(1);
    cluster.propose(next, 'meanwhile');
    await cluster.applied('meanwhile');
    await cluster.start(leader.name);
    await cluster.applied('meanwhile');
    const [first, second, third] = texts();
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });

  it('says that there is no quorum, and serves again when there is', async () => {
    const leader = await three();
    for (const { name } of cluster.followers()) cluster.kill(name);
    const barrier = leader.log.readBarrier(cluster.deadline(3_000));
    await expect(cluster.settle(barrier)).rejects.toMatchObject({
      code: 'NoQuorum',
      message: expect.stringMatching(/^no leader is known for \d+ s \(.*: .*\)$/),
    });
    const id = cluster.propose(leader, 'refused');
    await cluster.until(() => leader.state.refusals.length > 0, 'the proposal is refused');
    expect(leader.state.refusals[0]).toMatchObject({ ids: [id], error: { code: 'NoLeader' } });
    const waiting = leader.log.readBarrier(cluster.deadline(30_000));
    for (const name of cluster.names) if (!cluster.nodes.has(name)) await cluster.start(name);
    await cluster.settle(waiting);
    cluster.propose(await cluster.untilLeader(), 'again');
    await cluster.applied('again');
  });

  it('serves no stale read from an isolated leader', async () => {
    const leader = await three();
    cluster.isolate(leader.name);
    const stale = leader.log.readBarrier(cluster.deadline(2_500));
    await expect(cluster.settle(stale)).rejects.toMatchObject({ code: 'NoQuorum' });
    expect(leader.log.status().role).not.toBe('leader');
    const next = await cluster.untilLeader();
    expect(next.name).not.toBe(leader.name);
    const late = leader.log.readBarrier(cluster.deadline(30_000));
    cluster.propose(next, 'newer');
    await cluster.until(() => next.state.texts.includes('newer'), 'it is committed');
    cluster.network.heal();
    const index = await cluster.settle(late);
    expect(index).toBeGreaterThanOrEqual(next.state.texts.indexOf('newer') + 1);
  });

  it('does not campaign after a pause while the leader is active', async () => {
    const leader = await three();
    const { term } = leader.log.status();
    const paused = cluster.followers()[0]!;
    paused.clock.pause();
    cluster.network.pause(ReplicaCluster.url(paused.name));
    await cluster.clock.advance(10_000);
    paused.clock.resume();
    cluster.network.resume(ReplicaCluster.url(paused.name));
    await cluster.clock.advance(3_000);
    expect(leader.log.status()).toMatchObject({ role: 'leader', term });
    expect(paused.log.status()).toMatchObject({ role: 'follower', term });
  });

  it('transfers the leadership to the given member, from any replica', async () => {
    const leader = await three();
    const [target, other] = cluster.followers();
    await cluster.settle(
      other!.log.transferLeadership(memberId(target!), cluster.deadline(10_000)),
    );
    await cluster.until(() => target!.log.status().role === 'leader', 'the target leads');
    expect(leader.log.status().role).toBe('follower');
    await expect(
      cluster.settle(other!.log.transferLeadership(asMemberId('nobody'), cluster.deadline())),
    ).rejects.toMatchObject({ name: 'MembershipError', code: 'UnknownMember' });
  });

  it('returns the status of all members, and why one is missing', async () => {
    const leader = await three();
    leader.log.setFacts({ pid: 1 });
    const [gone, asked] = cluster.followers();
    cluster.kill(gone!.name);
    const statuses = await cluster.statuses(asked!);
    const by = new Map(statuses.map((status) => [status.member.name, status]));
    expect(by.get(asked!.name)?.status?.role).toBe('follower');
    expect(by.get(leader.name)).toMatchObject({ status: { role: 'leader' }, facts: { pid: 1 } });
    expect(by.get(gone!.name)?.error).toBeTruthy();
    const { progress } = by.get(leader.name)!.status as LogStatus;
    expect(progress.map(({ id }) => id)).toContain(memberId(asked!));
  });
});
