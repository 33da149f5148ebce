import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { asRefusal, certainlyNotTaken, EtcdError, isLeaseGone } from './errors.js';

const failure = (code: status, details: string) => new EtcdError(code, details, 'host:2379');

describe('errors of etcd', () => {
  it('are retried only when they certainly had no effect', () => {
    const notTaken = [
      failure(status.UNAVAILABLE, 'etcdserver: no leader'),
      failure(status.UNAVAILABLE, 'No connection established. Last error: connect ECONNREFUSED'),
      failure(status.UNAVAILABLE, 'etcdserver: rpc not supported for learner'),
      failure(status.UNKNOWN, 'raft proposal dropped'),
    ];
    expect(notTaken.map(certainlyNotTaken)).toEqual([true, true, true, true]);
    const unknown = [
      failure(status.UNAVAILABLE, 'etcdserver: request timed out'),
      failure(status.UNAVAILABLE, 'etcdserver: leader changed'),
      failure(status.UNAVAILABLE, 'Connection dropped'),
      failure(status.DEADLINE_EXCEEDED, 'Deadline exceeded'),
      failure(status.UNKNOWN, 'etcdserver: server stopped'),
      failure(status.CANCELLED, 'Call cancelled'),
    ];
    expect(unknown.map(certainlyNotTaken)).toEqual(unknown.map(() => false));
    expect(unknown.map((error) => asRefusal(error))).toEqual(unknown.map(() => undefined));
  });

  it('are converted to StoreError', () => {
    const cases = [
      [status.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted', 'Compacted'],
      [
        status.OUT_OF_RANGE,
        'etcdserver: mvcc: required revision is a future revision',
        'FutureRevision',
      ],
      [status.INVALID_ARGUMENT, 'etcdserver: request is too large', 'TooLarge'],
      [status.INVALID_ARGUMENT, 'etcdserver: too many operations in txn request', 'TooLarge'],
      [status.RESOURCE_EXHAUSTED, 'etcdserver: mvcc: database space exceeded', 'NoSpace'],
      [status.RESOURCE_EXHAUSTED, 'etcdserver: too many requests', 'Overloaded'],
      [status.RESOURCE_EXHAUSTED, 'Received message larger than max (5 vs 4)', 'TooLarge'],
      [status.PERMISSION_DENIED, 'etcdserver: permission denied', 'Unavailable'],
    ] as const;
    for (const [code, details, expected] of cases) {
      expect(asRefusal(failure(code, details))?.code).toBe(expected);
    }
    expect(isLeaseGone(failure(status.NOT_FOUND, 'etcdserver: requested lease not found'))).toBe(
      true,
    );
  });
});
