import { describe, expect, it } from 'vitest';
import { UsageError } from '../command-line/errors.js';
import { type TokenFlags, tokenRequest } from './create-service-account.js';

describe('tokenRequest', () => {
  it('contains only what the flags give', () => {
    expect(tokenRequest({})).toEqual({ spec: {} });
    expect(tokenRequest({ duration: '0' })).toEqual({ spec: {} });
    const bound = { boundObjectKind: 'Pod', boundObjectName: 'web', boundObjectUid: 'u' };
    expect(tokenRequest({ ...bound, duration: '1h', audience: ['a', 'b'] })).toEqual({
      spec: {
        audiences: ['a', 'b'],
        expirationSeconds: 3600,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u' },
      },
    });
  });

  it.each<[TokenFlags, string]>([
    [{ duration: '-1m' }, 'must be greater than or equal to 0'],
    [{ duration: '1500ms' }, 'cannot be expressed in units less than seconds'],
    [{ boundObjectKind: 'Foo', boundObjectName: 'x' }, 'values are Pod, Secret'],
    [{ boundObjectKind: 'Pod' }, '--bound-object-name is required'],
    [{ boundObjectName: 'x' }, 'only be set if --bound-object-kind'],
    [{ boundObjectUid: 'x' }, 'only be set if --bound-object-kind'],
  ])('rejects %j', (flags, message) => {
    expect(() => tokenRequest(flags)).toThrow(message);
    expect(() => tokenRequest(flags)).toThrow(UsageError);
  });
});
