import { expect, it } from 'vitest';
import { impersonationOf } from './impersonation.js';

function of(...rawHeaders: string[]) {
  const names = rawHeaders.filter((_text, index) => index % 2 === 0);
  const headers = Object.fromEntries(names.map((name) => [name.toLowerCase(), '']));
  return impersonationOf({ headers, rawHeaders });
}

it('is absent without a user', () => {
  expect(of('Accept', 'x')).toBeUndefined();
  expect(of('Impersonate-User', '')).toBeUndefined();
  expect(() => of('Impersonate-Group', 'dev')).toThrow(expect.objectContaining({ code: 400 }));
  expect(() => of('Impersonate-Extra-Scope', 'a')).toThrow(expect.objectContaining({ code: 400 }));
});

it('requires a permission per user, group and extra value', () => {
  const found = of(
    ...['Impersonate-User', 'ann', 'Impersonate-Group', 'dev', 'Impersonate-Group', 'ops'],
    ...['Impersonate-Extra-A%2fb', 'x', 'Impersonate-Extra-A%2fb', 'y'],
  );
  expect(found?.user).toEqual({
    name: 'ann',
    uid: '',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'a/b': ['x', 'y'] },
  });
  expect(
    found?.required.map(({ verb, group, resource, subresource, name }) =>
      [verb, group, resource, subresource, name].join(' '),
    ),
  ).toEqual([
    'impersonate  users  ann',
    'impersonate  groups  dev',
    'impersonate  groups  ops',
    'impersonate authentication.orch.io userextras a/b x',
    'impersonate authentication.orch.io userextras a/b y',
  ]);
});

it('acts as a service account with its groups, unless groups are given', () => {
  const account = of('Impersonate-User', 'system:serviceaccount:ns:robot');
  expect(account?.user.groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:ns',
    'system:authenticated',
  ]);
  expect(account?.required).toMatchObject([
    { resource: 'serviceaccounts', namespace: 'ns', name: 'robot' },
  ]);
  const odd = of('Impersonate-User', 'system:serviceaccount:ns:No');
  expect(odd?.required).toMatchObject([{ resource: 'users', name: 'system:serviceaccount:ns:No' }]);
});

it('reads names as UTF-8', () => {
  const sent = Buffer.from('žofia').toString('latin1');
  expect(of('Impersonate-User', sent)?.user.name).toBe('žofia');
});

it('adds no membership beside system:unauthenticated', () => {
  const found = of('Impersonate-User', 'x', 'Impersonate-Group', 'system:unauthenticated');
  expect(found?.user.groups).toEqual(['system:unauthenticated']);
  expect(of('Impersonate-User', 'system:anonymous')?.user.groups).toEqual([
    'system:unauthenticated',
  ]);
});
