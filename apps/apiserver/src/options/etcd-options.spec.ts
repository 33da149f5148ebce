import { parseOptions, UsageError } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { EtcdOptions } from './etcd-options.js';

const parse = (...flags: string[]) =>
  parseOptions(EtcdOptions, flags, { program: 'apiserver', description: '', version: '1' });

describe('EtcdOptions', () => {
  it('select the replicas as storage unless flags select etcd', () => {
    expect(parse()).toMatchObject({ usesEtcd: false, etcdServers: [], etcdPrefix: '/registry' });
    const given = parse(
      '--storage-backend=etcd3',
      '--etcd-servers=https://a:2379,https://b:2379',
      '--etcd-prefix=/clusters/one',
    );
    expect(given).toMatchObject({
      usesEtcd: true,
      etcdServers: ['https://a:2379', 'https://b:2379'],
      etcdPrefix: '/clusters/one',
    });
  });

  it('reject contradictory flags', () => {
    const etcd = ['--storage-backend=etcd3', '--etcd-servers=https://a:2379'];
    for (const [flags, reason] of [
      [['--storage-backend=etcd2'], /storage-backend/],
      [['--storage-backend=etcd3'], /--etcd-servers/],
      [['--etcd-servers=https://a:2379'], /--storage-backend/],
      [['--etcd-cafile=/ca'], /--storage-backend/],
      [[...etcd, '--etcd-certfile=/crt'], /--etcd-keyfile/],
      [[...etcd, '--etcd-prefix=/registry/'], /slash/],
      [[...etcd, '--etcd-prefix=registry'], /slash/],
    ] as const) {
      expect(() => parse(...flags)).toThrowError(UsageError);
      expect(() => parse(...flags)).toThrowError(reason);
    }
  });
});
