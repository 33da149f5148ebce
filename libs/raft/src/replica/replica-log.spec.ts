import { afterEach, describe, expect, it } from 'vitest';
import type { LogStatus } from '../replicated-log.js';
import { type Node, ReplicaCluster } from '../testing/replica-cluster.js';
import { randomId } from './bootstrap.js';

let cluster: ReplicaCluster;
afterEach(() => cluster.stopAll());

const memberId = ({ log }: Node) => log.status().self.id;
const texts = () => [...cluster.nodes.values()].map(({ state }) => state.texts);

async function three(): Promise<Node> {
  cluster = new ReplicaCluster(['a', 'b', 'c']);
  await cluster.startAll({ tuning: { logKeepEntries: 5 } });
  return cluster.untilLeader();
}

describe('ReplicaLog, alone', () => {
  it('commits what is proposed, in order, and finds it again after a crash', async () => {
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

  it('delivers at the pace of the state, reading from disk what is no longer in memory', async () => {
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

  it('is cut up to what the state has on disk, but for what is kept', async () => {
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

describe('ReplicaLog, three together', () => {
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

  it('goes on when the leader dies, and takes it back with what it has missed', async () => {
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

  it('reads nothing stale from a leader that is cut off', async () => {
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

  it('does not stand for election after a pause while the leader lives', async () => {
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

  it('moves the lead where it is asked to, from any replica', async () => {
    const leader = await three();
    const [target, other] = cluster.followers();
    await cluster.settle(
      other!.log.transferLeadership(memberId(target!), cluster.deadline(10_000)),
    );
    await cluster.until(() => target!.log.status().role === 'leader', 'the target leads');
    expect(leader.log.status().role).toBe('follower');
    await expect(
      cluster.settle(other!.log.transferLeadership('nobody', cluster.deadline())),
    ).rejects.toMatchObject({ name: 'MembershipError', code: 'UnknownMember' });
  });

  it('tells what all of them say, and why one says nothing', async () => {
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

describe('ReplicaLog, far behind', () => {
  async function leaveBehind(): Promise<{ leader: Node; behind: string }> {
    const leader = await three();
    const behind = cluster.followers()[0]!.name;
    cluster.propose(leader, 'first');
    await cluster.applied('first');
    cluster.node(behind).state.checkpoint();
    cluster.kill(behind);
    for (let count = 1; count <= 200; count += 1) cluster.propose(leader, `${count}`);
    await cluster.applied('200');
    // Until then it is waited for.
    await cluster.clock.advance(2_000);
    for (const { log, state } of cluster.nodes.values()) {
      await cluster.settle(log.truncate(state.checkpoint()));
    }
    expect(leader.log.status().firstIndex).toBeGreaterThan(100);
    return { leader, behind };
  }

  it('is sent the state, and goes on with entries', async () => {
    const { leader, behind } = await leaveBehind();
    const node = await cluster.start(behind);
    cluster.propose(leader, 'more');
    await cluster.applied('more');
    expect(node.state.installs).toBe(1);
    expect(node.state.texts).toEqual(leader.state.texts);
    expect(leader.state.snapshotsOpen).toBe(0);
    node.state.checkpoint();
    cluster.kill(behind, { machine: true });
    const again = await cluster.start(behind);
    cluster.propose(leader, 'last');
    await cluster.applied('last');
    expect(again.state.installs).toBe(0);
  });

  it('is sent it again when the sending was interrupted', async () => {
    const { leader, behind } = await leaveBehind();
    let chunks = 0;
    leader.state.beforeChunk = () => {
      chunks += 1;
      if (chunks === 3) throw new Error('the disk hiccups');
      return undefined;
    };
    const node = await cluster.start(behind);
    await cluster.applied('200');
    expect(chunks).toBeGreaterThan(20);
    expect(node.state.installs).toBe(1);
    expect(node.state.texts).toEqual(leader.state.texts);
  });

  it('is sent it again after a crash amid receiving, or between state and log', async () => {
    const { leader, behind } = await leaveBehind();
    let chunks = 0;
    leader.state.beforeChunk = () => {
      chunks += 1;
      return new Promise((resolve) => cluster.clock.setTimer(50, resolve));
    };
    await cluster.start(behind);
    await cluster.until(() => chunks >= 3, 'the sending has begun');
    cluster.kill(behind);
    let installed = false;
    await cluster.start(behind, {
      prepare: ({ state: { snapshots } }) => {
        const { install } = snapshots;
        snapshots.install = async (point) => {
          await install(point);
          installed = true;
          await new Promise(() => undefined);
        };
      },
    });
    await cluster.until(() => installed, 'the state is installed, the log not yet moved');
    cluster.kill(behind, { machine: true });
    const again = await cluster.start(behind);
    cluster.propose(leader, 'more');
    await cluster.applied('more');
    expect(again.state.texts).toEqual(leader.state.texts);
    expect(again.fatal).toEqual([]);
  });

  it('keeps the log for a state that is being sent', async () => {
    const { leader, behind } = await leaveBehind();
    let release: () => void = () => undefined;
    let held = false;
    leader.state.beforeChunk = () => {
      if (held) return undefined;
      held = true;
      return new Promise((resolve) => {
        release = resolve;
      });
    };
    const node = await cluster.start(behind);
    await cluster.until(() => held, 'the sending has begun');
    const sentIndex = leader.state.appliedIndex;
    for (let count = 1; count <= 100; count += 1) cluster.propose(leader, `later ${count}`);
    await cluster.until(() => leader.state.texts.includes('later 100'), 'all are committed');
    await cluster.settle(leader.log.truncate(leader.state.checkpoint()));
    expect(leader.log.status().firstIndex).toBeLessThanOrEqual(sentIndex + 1);
    release();
    await cluster.applied('later 100');
    expect(node.state.installs).toBe(1);
  });

  it('replaces a state that was found damaged', async () => {
    const { leader } = await leaveBehind();
    const damaged = cluster.followers()[0]!.name;
    cluster.kill(damaged);
    Object.assign(cluster.disk(damaged), { applied: [], appliedIndex: 0, needsSnapshot: true });
    leader.state.beforeChunk = () => new Promise((resolve) => cluster.clock.setTimer(100, resolve));
    const node = await cluster.start(damaged);
    await cluster.until(() => node.log.status().leader !== undefined, 'a leader is known');
    expect(node.log.status().unavailableReason).toBe(
      'this member waits for the state from the leader',
    );
    await cluster.until(() => node.state.installs === 1, 'the state is replaced');
    await cluster.until(() => node.state.texts.includes('200'), 'it is up to date');
    expect(node.state.texts).toEqual(leader.state.texts);
  });
});

describe('ReplicaLog, members', () => {
  async function add(name: string): Promise<string> {
    const id = randomId(() => Math.random());
    const member = { id, name, peerUrl: ReplicaCluster.url(name), clientUrl: '' };
    const asked = cluster.followers()[0] ?? cluster.leader()!;
    const configuration = await cluster.settle(
      asked.log.changeMembership({ kind: 'addLearner', member }, cluster.deadline()),
    );
    expect(configuration.learners).toContainEqual(member);
    return id;
  }

  it('takes in a learner, gives it a vote, lets another go', async () => {
    const leader = await three();
    cluster.propose(leader, 'before');
    await cluster.applied('before');
    const id = await add('d');
    const joined = await cluster.start('d', { join: true });
    await cluster.applied('before');
    expect(joined.log.status()).toMatchObject({ role: 'learner', self: { id } });
    await cluster.settle(
      leader.log.changeMembership({ kind: 'promote', id }, cluster.deadline(10_000)),
    );
    await cluster.until(() => joined.log.status().role === 'follower', 'it has a vote');
    const gone = cluster.followers().find(({ name }) => name !== 'd')!;
    await cluster.settle(
      leader.log.changeMembership({ kind: 'remove', id: memberId(gone) }, cluster.deadline(10_000)),
    );
    await cluster.until(() => gone.fatal.length > 0, 'the removed one ends');
    expect(gone.fatal[0]).toMatchObject({ code: 'Removed' });
    cluster.propose(leader, 'after');
    await cluster.applied('after');
    expect(leader.log.status().configuration.voters.map(({ name }) => name)).toContain('d');
    const again = await cluster.start(gone.name);
    await cluster.until(() => again.fatal.length > 0, 'it ends again after a restart');
    expect(again.fatal[0]).toMatchObject({ code: 'Removed' });
  });

  it('lets a learner catch up from a state when the log is cut', async () => {
    const leader = await three();
    for (let count = 1; count <= 100; count += 1) cluster.propose(leader, `${count}`);
    await cluster.applied('100');
    await cluster.settle(leader.log.truncate(leader.state.checkpoint()));
    await add('d');
    const joined = await cluster.start('d', { join: true });
    await cluster.applied('100');
    expect(joined.state.installs).toBe(1);
    expect(joined.state.texts).toEqual(leader.state.texts);
  });

  it('does not let in who was not added, or has come under another address', async () => {
    await three();
    await expect(cluster.start('d', { join: true })).rejects.toMatchObject({
      code: 'BadConfiguration',
      message: expect.stringContaining('has no member d: add it'),
    });
    cluster.nodes.delete('d');
  });

  it('refuses a wiped directory under its old id, new or joining', async () => {
    await three();
    const wiped = cluster.followers()[0]!.name;
    cluster.kill(wiped);
    cluster.wipe(wiped);
    const fresh = await cluster.start(wiped);
    await cluster.until(() => fresh.fatal.length > 0, 'it is refused');
    expect(fresh.fatal[0]).toMatchObject({
      code: 'BadDirectory',
      message: expect.stringContaining('wiped'),
    });
    cluster.wipe(wiped);
    await expect(cluster.start(wiped, { join: true })).rejects.toMatchObject({
      code: 'BadDirectory',
      message: expect.stringContaining('has a vote'),
    });
    cluster.nodes.delete(wiped);
  });

  it('puts another in the place of one that was lost, at the same name and address', async () => {
    await three();
    const lost = cluster.followers()[0]!;
    cluster.kill(lost.name);
    cluster.wipe(lost.name);
    cluster.nodes.delete(lost.name);
    const change = { kind: 'remove', id: memberId(lost) } as const;
    const leader = await cluster.untilLeader();
    await add('d');
    for (let count = 0; count < 60; count += 1) cluster.propose(leader, `${count}`.padEnd(500_000));
    await cluster.applied('59'.padEnd(500_000));
    await cluster.settle(leader.log.changeMembership(change, cluster.deadline(10_000)));
    const id = await add(lost.name);
    // It starts from a log in which its predecessor is a member at its own address.
    const replacement = await cluster.start(lost.name, { join: true });
    cluster.propose(leader, 'replaced');
    await cluster.applied('replaced');
    await cluster.clock.advance(5_000);
    expect(replacement.fatal).toEqual([]);
    expect(replacement.log.status()).toMatchObject({ role: 'learner', self: { id } });
  });

  it('takes part in a new cluster only after it has met all members', async () => {
    cluster = new ReplicaCluster(['a', 'b', 'c']);
    const first = await cluster.start('a');
    await cluster.start('b');
    await cluster.clock.advance(10_000);
    expect(cluster.leader()).toBeUndefined();
    expect(first.log.status().unavailableReason).toMatch(/new and waits to meet c \(c: /);
    await cluster.start('c');
    await cluster.untilLeader();
    cluster.kill('c');
    cluster.kill('b');
    await cluster.start('b');
    await cluster.untilLeader();
  });

  it('refuses a directory of another member', async () => {
    await three();
    const [first, second] = cluster.followers();
    await cluster.stop(first!.name);
    await cluster.stop(second!.name);
    cluster.swap(first!.name, second!.name);
    await expect(cluster.start(first!.name)).rejects.toMatchObject({
      code: 'BadDirectory',
      message: expect.stringContaining(`belongs to member ${second!.name}`),
    });
    cluster.nodes.delete(first!.name);
  });
});
