/** Replicas that are so far behind that they receive a snapshot. */
import { afterEach, describe, expect, it } from 'vitest';
import { type Node, ReplicaCluster } from '../testing/replica-cluster.js';

let cluster: ReplicaCluster;
afterEach(() => cluster.stopAll());

async function three(): Promise<Node> {
  cluster = new ReplicaCluster(['a', 'b', 'c']);
  return cluster.startAndElect();
}

describe('InThreadReplicatedLog, far behind', () => {
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

  it('receives a snapshot, then entries', async () => {
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
