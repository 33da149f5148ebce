/** Changes of membership, and members that are refused. */
import { afterEach, describe, expect, it } from 'vitest';
import { asMemberId, branded } from '../core/brands.js';
import { type Node, ReplicaCluster } from '../testing/replica-cluster.js';
import { randomId } from './startup/bootstrap.js';

let cluster: ReplicaCluster;
afterEach(() => cluster.stopAll());

const memberId = ({ log }: Node) => log.status().self.id;

async function three(): Promise<Node> {
  cluster = new ReplicaCluster(['a', 'b', 'c']);
  return cluster.startAndElect();
}

describe('InThreadReplicatedLog, members', () => {
  async function add(name: string): Promise<string> {
    const id = randomId(() => Math.random());
    const member = { id, name, peerUrl: ReplicaCluster.url(name), clientUrl: '' };
    const asked = cluster.followers()[0] ?? cluster.leader()!;
    const configuration = await cluster.settle(
      asked.log.changeMembership(
        { kind: 'addLearner', member: branded(member) },
        cluster.deadline(),
      ),
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
      leader.log.changeMembership(
        { kind: 'promote', id: asMemberId(id) },
        cluster.deadline(10_000),
      ),
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

  it('lets a learner catch up from a snapshot when the log is compacted', async () => {
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

  it('rejects a joining member that was not added, or has another address', async () => {
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
