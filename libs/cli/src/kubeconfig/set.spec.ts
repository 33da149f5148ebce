import type { Kubeconfig } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { withProperty } from './set.js';

const config: Kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: '10.0.0.1', cluster: { server: 'https://10.0.0.1' } }],
  users: [{ name: 'ann', user: { token: 't', as: 'eve' } }],
  contexts: [{ name: 'a.b', context: { cluster: '10.0.0.1', user: 'ann' } }],
  'current-context': 'a.b',
};

describe('withProperty', () => {
  const having = (property: string, value: string, isRaw = false) =>
    withProperty(config, property, value, isRaw);

  it('sets fields of the file and of entries, whose names may have dots', () => {
    expect(having('current-context', 'c')['current-context']).toBe('c');
    expect(having('users.ann.token', 'x').users).toEqual([
      { name: 'ann', user: { token: 'x', as: 'eve' } },
    ]);
    expect(having('contexts.a.b.namespace', 'ns').contexts).toEqual([
      { name: 'a.b', context: { cluster: '10.0.0.1', user: 'ann', namespace: 'ns' } },
    ]);
  });

  it('creates the entry', () => {
    expect(having('users.bob.username', 'b').users).toEqual([
      ...config.users,
      { name: 'bob', user: { username: 'b' } },
    ]);
    expect(having('contexts.c.namespace', 'ns').contexts[1]).toEqual({
      name: 'c',
      context: { cluster: '', user: '', namespace: 'ns' },
    });
  });

  it('reads booleans', () => {
    const field = 'clusters.10.0.0.1.insecure-skip-tls-verify';
    const cluster = (value: string) => having(field, value).clusters[0]?.cluster;
    expect(cluster('true')).toMatchObject({ 'insecure-skip-tls-verify': true });
    expect(cluster('F')).toMatchObject({ 'insecure-skip-tls-verify': false });
    expect(() => cluster('maybe')).toThrow('want true or false, got maybe');
  });

  it('reads bytes as base64, or raw', () => {
    const user = (value: string, isRaw?: boolean) =>
      having('users.ann.client-key-data', value, isRaw).users[0]?.user;
    expect(user('YWJj')).toMatchObject({ 'client-key-data': 'YWJj' });
    expect(user('abc', true)).toMatchObject({ 'client-key-data': 'YWJj' });
    expect(() => user('a.b')).toThrow('want base64');
    expect(() => user('YQ')).toThrow('want base64');
  });

  it.each([
    ['', 'x', 'you must specify a property'],
    ['current-context', '', 'you cannot use set to unset a property'],
    ['nothing', 'x', 'unable to parse nothing after [] at api.Config'],
    ['users', 'x', "can't set a map to a value: users"],
    ['users.ann', 'x', "can't set a map to a value: users.ann"],
    ['users.ann.nothing', 'x', "can't set a map to a value: users.ann.nothing"],
    ['users.ann.as-groups', 'x', 'cannot set users.ann.as-groups to one value'],
    ['preferences', 'x', 'cannot set preferences to one value'],
    ['kind', 'Other', 'kind: a kubeconfig always has Config'],
    ['users.ann.token.x', 'y', 'unable to parse one or more field values of users.ann.token.x'],
  ])('rejects "%s" with "%s"', (property, value, message) => {
    expect(() => having(property, value)).toThrow(message);
  });
});
