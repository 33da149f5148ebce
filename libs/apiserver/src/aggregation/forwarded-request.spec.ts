import { StatusError } from '@orch/apimachinery';
import { describe, expect, it } from 'vitest';
import { normalizedPath } from '../http/request-info.js';
import { forwardedHeaders, identityHeaders, userHeaders } from './forwarded-request.js';

const user = {
  name: 'jürgen',
  uid: '',
  groups: ['dev', 'system:authenticated'],
  extra: { scopes: ['a', 'b'], 'Example.com/key': ['c'] },
};
const published = {
  userHeaders: ['X-Login', 'X-Remote-User'],
  groupHeaders: ['X-Teams'],
  extraPrefixes: ['X-Login-Extra-'],
};

describe('the headers of a request to an aggregated server', () => {
  const forwarded = (headers: Record<string, string>) =>
    forwardedHeaders(headers, {
      isIdentityHeader: identityHeaders(published),
      user,
      clientAddress: '192.0.2.1',
      authority: '10.0.0.5:443',
      path: '/apis/example.com/v1',
      upgrade: undefined,
    });

  it('name the user with its groups and extra values', () => {
    expect(userHeaders(user)).toEqual({
      'x-remote-user': 'j\u00c3\u00bcrgen',
      'x-remote-group': ['dev', 'system:authenticated'],
      'x-remote-extra-scopes': ['a', 'b'],
      'x-remote-extra-example.com%2Fkey': ['c'],
    });
  });

  it('include no header in which the client names a user', () => {
    const headers = forwarded({
      authorization: 'Bearer secret',
      'x-remote-user': 'admin',
      'x-remote-group': 'system:masters',
      'x-remote-extra-scopes': 'all',
      'x-remote-uid': '1',
      'x-login': 'admin',
      'x-teams': 'system:masters',
      'x-login-extra-scopes': 'all',
      'impersonate-user': 'admin',
      'x-custom': 'kept',
    });
    expect(headers).toEqual({
      ...userHeaders(user),
      'x-custom': 'kept',
      host: '10.0.0.5:443',
      'x-forwarded-for': '192.0.2.1',
      'x-forwarded-host': '10.0.0.5:443',
      'x-forwarded-proto': 'https',
      'x-forwarded-uri': '/apis/example.com/v1',
    });
  });
});

describe('the path of a request to an aggregated server', () => {
  it.each([
    ['/apis/g/v1/a%2Fb/c', '/apis/g/v1/a/b/c'],
    ['/apis/g/v1/', '/apis/g/v1/'],
    ['/apis/g/v1/a%20b/x:y@z', '/apis/g/v1/a%20b/x:y@z'],
    ['/apis/g/v1/%E2%82%AC%3F', '/apis/g/v1/%E2%82%AC%3F'],
  ])('%s becomes %s', (given, expected) => {
    expect(normalizedPath(given)).toBe(expected);
  });

  it.each(['/apis/g/v1/..%2f..%2fmetrics', '/apis/g/v1/../x', '/apis/g/v1/./x'])(
    '%s is rejected',
    (given) => {
      expect(() => normalizedPath(given)).toThrow(StatusError);
    },
  );
});
