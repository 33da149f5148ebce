/** Scenarios of the commit index on its way to the followers. */

import { describe, expect, it } from 'vitest';
import type { Message } from './messages.js';
import { append } from './testing/appends.js';
import { memberId, TestCluster } from './testing/test-cluster.js';

const isNotice = (message: Message): boolean => message.kind === 'appendRequest' && message.notice;

/** Returns the list of all messages sent from now on. */
function recordSent(cluster: TestCluster): Message[] {
  const sent: Message[] = [];
  cluster.lose = (message) => {
    sent.push(message);
    return false;
  };
  return sent;
}

describe('the commit index', () => {
  it('reports the commit index of a lone write immediately, without responses', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    const sent = recordSent(cluster);
    cluster.propose(leader);
    cluster.settle();
    expect(cluster.commitIndexes()).toEqual([2, 2, 2]);
    expect(sent.map(({ kind }) => kind)).toEqual([
      ...['appendRequest', 'appendRequest', 'appendResponse', 'appendResponse'],
      ...['appendRequest', 'appendRequest'],
    ]);
    expect(sent.filter(isNotice).map(({ to }) => to)).toEqual([memberId(2), memberId(3)]);
  });

  it('responds to a notice that it must reject', () => {
    const cluster = new TestCluster([1, 2, 3]);
    const leader = cluster.elect(1);
    cluster.lose = ({ kind, to }) => kind === 'appendRequest' && to === memberId(3);
    cluster.propose(leader);
    cluster.settle();
    cluster.lose = () => false;
    const follower = cluster.replica(3);
    const notice = { ...append(leader.disk.entries.at(-1)!, []), to: follower.id, notice: true };
    follower.core.step(notice);
    cluster.settle();
    expect(cluster.commitIndexes()).toEqual([2, 2, 2]);
  });
});
