import type { IncomingMessage } from 'node:http';
import { unauthorized } from '@orch/apimachinery';
import { expect, it, vi } from 'vitest';
import { type Authenticator, orAnonymous, unionOf } from './authenticator.js';
import { bearerTokens, staticTokens, TokenError, tokenUnionOf } from './token-authenticator.js';
import { authenticated } from './user.js';

const ann = authenticated('ann', '1', []);
const bob = authenticated('bob', '2', []);
const none: Authenticator = async () => undefined;
const rejecting: Authenticator = async () => {
  throw unauthorized();
};

function request(authorization?: string): IncomingMessage {
  return { headers: { authorization } } as IncomingMessage;
}

it('union returns the first user that an authenticator finds', async () => {
  const last = vi.fn(async () => bob);
  expect(await unionOf([none, async () => ann, last])(request())).toBe(ann);
  expect(last).not.toHaveBeenCalled();
});

it('union continues after a rejection, which stands when no other authenticator finds a user', async () => {
  expect(await unionOf([rejecting, async () => bob])(request())).toBe(bob);
  await expect(unionOf([rejecting, none])(request())).rejects.toMatchObject({ code: 401 });
});

it('union rejects immediately with an error other than invalid credentials', async () => {
  const failing: Authenticator = async () => {
    throw new Error('the store is gone');
  };
  await expect(unionOf([failing, async () => ann])(request())).rejects.toThrow('the store is gone');
});

it('orAnonymous names requests without credentials anonymous, never those with wrong ones', async () => {
  expect((await orAnonymous(none)(request()))?.name).toBe('system:anonymous');
  await expect(orAnonymous(unionOf([rejecting]))(request())).rejects.toMatchObject({ code: 401 });
});

it('bearerTokens finds the user of a token, ignores other schemes and rejects unknown tokens', async () => {
  const tokens = tokenUnionOf([
    staticTokens(new Map([['a', ann]]), ['api']),
    staticTokens(new Map([['b', bob]]), ['api']),
  ]);
  const authenticate = async (sent: IncomingMessage) => bearerTokens(tokens, ['api'])(sent);
  expect(await authenticate(request('Bearer b'))).toBe(bob);
  expect(await authenticate(request('bearer a'))).toBe(ann);
  expect(await authenticate(request('Basic YTpi'))).toBeUndefined();
  expect(await authenticate(request())).toBeUndefined();
  await expect(authenticate(request('Bearer c'))).rejects.toMatchObject({ code: 401 });
  expect(await authenticate(request('Bearer '))).toBeUndefined();
  expect(await authenticate(request('Bearer b more'))).toBe(bob);
});

it('static tokens are valid for the audiences of the API only', async () => {
  const tokens = staticTokens(new Map([['a', ann]]), ['api', 'api2']);
  expect(await tokens('a', ['vault'])).toBeUndefined();
  expect(await tokens('a', ['vault', 'api2'])).toEqual({ user: ann, audiences: ['api2'] });
});

it('tokenUnionOf reports the reasons of all authenticators unless one finds a user', async () => {
  const rejects = async () => {
    throw new TokenError('expired');
  };
  const known = staticTokens(new Map([['a', ann]]), ['api']);
  expect((await tokenUnionOf([rejects, known])('a', ['api']))?.user).toBe(ann);
  await expect(tokenUnionOf([rejects, known, rejects])('b', ['api'])).rejects.toThrow(
    'expired, expired',
  );
  await expect(
    bearerTokens(tokenUnionOf([rejects]), ['api'])(request('Bearer b')),
  ).rejects.toMatchObject({ code: 401 });
});
