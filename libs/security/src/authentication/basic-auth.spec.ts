import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { basicAuth } from './basic-auth.js';
import { parsePasswordFile } from './token-file.js';

const users = parsePasswordFile('pa:ss,ann,1,"dev,ops"\nother,bob,2\n', 'passwords.csv');
const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;
const request = (authorization?: string) => ({ headers: { authorization } }) as IncomingMessage;
const authenticate = async (sent: IncomingMessage) => basicAuth(users)(sent);

it('basicAuth finds the user of a password, which may contain a colon', async () => {
  const user = await authenticate(request(basic('ann:pa:ss')));
  expect(user).toMatchObject({
    name: 'ann',
    uid: '1',
    groups: ['dev', 'ops', 'system:authenticated'],
  });
});

it('basicAuth leaves requests with other credentials to other authenticators', async () => {
  expect(await authenticate(request())).toBeUndefined();
  expect(await authenticate(request('Bearer pa:ss'))).toBeUndefined();
});

it.each([
  ['a wrong password', basic('ann:pa:s')],
  ['the password of another user', basic('ann:other')],
  ['an unknown user', basic('carl:pa:ss')],
  ['an empty password', basic('ann:')],
  ['an unknown user with an empty password', basic('carl:')],
  ['no separator', basic('ann')],
  ['no base64', 'Basic ***'],
  ['excessive length', basic(`ann:${'x'.repeat(10_000)}`)],
])('basicAuth rejects %s', async (_what, header) => {
  await expect(authenticate(request(header))).rejects.toMatchObject({ code: 401 });
});

it('the password file is rejected if a user is listed twice or a password is missing', () => {
  expect(() => parsePasswordFile('a,ann,1\nb,ann,2\n', 'p.csv')).toThrow('p.csv line 2');
  expect(() => parsePasswordFile(',ann,1\n', 'p.csv')).toThrow('want at least password,user,uid');
});
