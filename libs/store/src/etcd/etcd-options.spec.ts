import { describe, expect, it } from 'vitest';
import { type EtcdOptions, resolveEtcdOptions } from './etcd-options.js';

const good: EtcdOptions = {
  endpoints: ['https://a:2379', 'https://[::1]:2379'],
  prefix: '/registry',
};
const pem = Buffer.from('pem');

describe('resolveEtcdOptions', () => {
  it('adds the defaults', () => {
    expect(resolveEtcdOptions(good)).toMatchObject({
      addresses: ['a:2379', '[::1]:2379'],
      secure: true,
      historyRetentionMs: 300_000,
    });
  });

  it('rejects invalid options with the reason', () => {
    const bad: [Partial<EtcdOptions>, RegExp][] = [
      [{ endpoints: [] }, /at least one etcd server/],
      [{ endpoints: ['a:2379'] }, /a:2379/],
      [{ endpoints: ['https://a'] }, /https:\/\/a/],
      [{ endpoints: ['https://a:2379/path'] }, /path/],
      [{ endpoints: ['https://a:2379', 'http://b:2379'] }, /http and with https/],
      [{ prefix: 'registry' }, /prefix/],
      [{ prefix: '/registry/' }, /prefix/],
      [{ prefix: '' }, /prefix/],
      [{ tls: { certificatePem: pem } }, /key/],
      [{ endpoints: ['http://a:2379'], tls: { authorityPem: pem } }, /http/],
      [{ historyRetentionMs: 0 }, /historyRetentionMs/],
    ];
    for (const [change, reason] of bad) {
      expect(() => resolveEtcdOptions({ ...good, ...change })).toThrowError(reason);
    }
  });
});
