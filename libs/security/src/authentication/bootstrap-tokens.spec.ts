import { dialect } from '@orch/component';
import type { Secret } from '@orch/types/core/v1';
import { beforeEach, expect, it, vi } from 'vitest';
import { bootstrapTokens } from './bootstrap-tokens.js';
import { TokenError } from './token-authenticator.js';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const clock = { nowMs: () => nowMs, monotonicMs: () => 0, setTimer: () => ({ cancel() {} }) };
const token = 'abcdef.0123456789abcdef';
let data: Record<string, string>;
let secret: Secret | undefined;
const readSecret = vi.fn(async (name: string) =>
  secret?.metadata?.name === name
    ? {
        ...secret,
        data: Object.fromEntries(
          Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
        ),
      }
    : undefined,
);
const authenticate = bootstrapTokens({ readSecret, apiAudiences: ['api'], clock });

beforeEach(() => {
  readSecret.mockClear();
  data = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    expiration: '2026-01-01T00:00:01Z',
    'usage-bootstrap-authentication': 'true',
  };
  secret = {
    type: `bootstrap.${dialect().keyDomain}/token`,
    metadata: { name: 'bootstrap-token-abcdef' },
  };
});

it('bootstrapTokens finds the user of a token in the group of bootstrappers', async () => {
  expect(await authenticate(token, ['api', 'x'])).toEqual({
    user: {
      name: 'system:bootstrap:abcdef',
      uid: '',
      groups: ['system:bootstrappers', 'system:authenticated'],
      extra: {},
    },
    audiences: ['api'],
  });
});

it('bootstrapTokens adds the groups of the secret, and accepts a token without expiration', async () => {
  delete data.expiration;
  data['auth-extra-groups'] = 'system:bootstrappers:workers,system:bootstrappers:a-b';
  expect((await authenticate(token, ['api']))?.user.groups).toEqual([
    'system:bootstrappers',
    'system:bootstrappers:a-b',
    'system:bootstrappers:workers',
    'system:authenticated',
  ]);
});

it.each<[string, () => void]>([
  ['that has expired', () => (data.expiration = '2025-12-31T23:59:59Z')],
  ['that expires now', () => (data.expiration = '2026-01-01T00:00:00Z')],
  ['with an unreadable expiration', () => (data.expiration = 'tomorrow')],
  ['with a date as expiration', () => (data.expiration = '2027-01-01')],
  ['of another id', () => (data['token-id'] = 'ghijkl')],
  ['of another secret', () => (data['token-secret'] = '0123456789abcdeg')],
  ['without a secret', () => delete data['token-secret']],
  ['for another usage', () => delete data['usage-bootstrap-authentication']],
  ['with a usage other than true', () => (data['usage-bootstrap-authentication'] = 'True')],
  ['whose secret has another type', () => (secret = { ...secret, type: 'Opaque' })],
  [
    'whose secret is being deleted',
    () => {
      const metadata = { ...secret?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
      secret = { ...secret, metadata };
    },
  ],
  ['whose secret is missing', () => (secret = undefined)],
])('bootstrapTokens rejects a token %s', async (_what, change) => {
  change();
  expect(await authenticate(token, ['api'])).toBeUndefined();
});

it.each([
  'system:masters',
  'system:bootstrappers:',
  'system:bootstrappers:a,',
  ' ',
  'system:bootstrappers:A',
])('bootstrapTokens rejects a token with the groups %j', async (groups) => {
  data['auth-extra-groups'] = groups;
  await expect(authenticate(token, ['api'])).rejects.toThrow(TokenError);
});

it('bootstrapTokens reads no secret for a token of another form or audience', async () => {
  const others = ['abcdef', 'ABCDEF.0123456789abcdef', `${token}0`, `${token}\n`, '../../x.y'];
  for (const other of others) expect(await authenticate(other, ['api'])).toBeUndefined();
  expect(await authenticate(token, ['vault'])).toBeUndefined();
  expect(readSecret).not.toHaveBeenCalled();
});
