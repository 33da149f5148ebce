import type { Kubeconfig } from '@orch/component';
import { describe, expect, it } from 'vitest';
import { withoutProperty } from './unset.js';

const config: Kubeconfig = {
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [
    {
      name: '10.0.0.1',
      cluster: {
        server: 'https://10.0.0.1',
        'insecure-skip-tls-verify': true,
        extensions: [{ name: 'endpoints', extension: {} }],
      },
    },
  ],
  users: [{ name: 'ann', user: { token: 't', as: 'eve' } }],
  contexts: [{ name: 'a.b', context: { cluster: '10.0.0.1', user: 'ann', namespace: 'ns' } }],
  'current-context': 'a.b',
  preferences: { colors: true },
};

describe('withoutProperty', () => {
  const without = (property: string) => withoutProperty(config, property);

  it('removes fields, entries and lists', () => {
    expect(without('current-context')['current-context']).toBe('');
    expect(without('preferences')).not.toHaveProperty('preferences');
    expect(without('users')).toEqual({ ...config, users: [] });
    expect(without('users.ann').users).toEqual([]);
    expect(without('users.ann.token').users).toEqual([{ name: 'ann', user: { as: 'eve' } }]);
  });

  it('finds the field after a name with dots', () => {
    expect(without('contexts.a.b.namespace').contexts).toEqual([
      { name: 'a.b', context: { cluster: '10.0.0.1', user: 'ann' } },
    ]);
    expect(without('contexts.a.b').contexts).toEqual([]);
    expect(without('clusters.10.0.0.1.insecure-skip-tls-verify').clusters[0]?.cluster).toEqual({
      server: 'https://10.0.0.1',
      extensions: [{ name: 'endpoints', extension: {} }],
    });
  });

  it('empties required fields and forgets the other servers of the address', () => {
    expect(without('clusters.10.0.0.1.server').clusters[0]?.cluster).toEqual({
      server: '',
      'insecure-skip-tls-verify': true,
    });
    expect(without('contexts.a.b.user').contexts[0]?.context).toMatchObject({ user: '' });
  });

  it.each(['users.bob', 'contexts.a', 'kind'])('leaves the configuration for %s', (property) => {
    expect(without(property)).toEqual(config);
  });

  it.each([
    ['', 'you must specify a property'],
    ['nothing', 'unable to parse nothing after [] at api.Config'],
    ['toString', 'unable to parse toString after [] at api.Config'],
    ['users.bob.token', 'current map key `bob` is invalid'],
    ['current-context.x', 'unable to parse one or more field values of current-context.x'],
    ['users.ann.token.x', 'unable to parse one or more field values of users.ann.token.x'],
  ])('rejects "%s"', (property, message) => {
    expect(() => without(property)).toThrow(message);
  });
});
