/** Scenarios of the whole core, each a short story of replicas, disks and a network. */

import { describe, expect, it } from 'vitest';
import { asTerm } from './brands.js';
import { encodeConfiguration } from './configuration/configuration-codec.js';
import { entryAfter } from './log/entry-checksum.js';
import { append } from './testing/appends.js';
import { memberId, TestCluster } from './testing/test-cluster.js';

describe('a sole voter', () => {
  it('leads after its first tick, but commits only durable entries', () => {
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

  it('serves reads without a round, but only after an entry of its own term is committed', () => {
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

describe('a configuration in the log', () => {
  it('must be readable', () => {
    const cluster = new TestCluster([1, 2, 3]);
    cluster.elect(1);
    const last = cluster.replica(1).disk.entries.at(-1)!;
    const bad = entryAfter(last, asTerm(1), 'configuration', Buffer.from('{'));
    expect(() => cluster.replica(2).core.step(append(last, [bad]))).toThrow(/not JSON/);
    const none = encodeConfiguration({ voters: [], learners: [] });
    const empty = entryAfter(last, asTerm(1), 'configuration', none);
    expect(() =>
      cluster.replica(3).core.step({ ...append(last, [empty]), to: memberId(3) }),
    ).toThrow(/no voters/);
  });
});
