import type { Clock } from '@orch/component';
import { expect, it, vi } from 'vitest';
import { ReviewError } from '../webhooks/review.js';
import type { Attributes, RequestAttributes } from './attributes.js';
import { AuthorizationError, allow, unionOfAuthorizers } from './authorizer.js';
import { webhookAuthorizer } from './webhook-authorizer.js';

let nowMs = 0;
const clock: Clock = {
  nowMs: () => nowMs,
  monotonicMs: () => nowMs,
  setTimer: () => ({ cancel() {} }),
};
const user = { name: 'ann', uid: '1', groups: ['dev'], extra: { scope: ['a'] } };
const info: RequestAttributes = {
  isResource: true,
  verb: 'get',
  path: '/api/v1/namespaces/ns/pods/p/log',
  group: '',
  version: 'v1',
  namespace: 'ns',
  resource: 'pods',
  subresource: 'log',
  name: 'p',
};
const attributes: Attributes = { user, info };

function authorizer(post: (review: object) => Promise<unknown>, version: 'v1' | 'v1beta1' = 'v1') {
  return webhookAuthorizer({ post, version, allowedMs: 1_000, refusedMs: 100, clock });
}

it.each([
  ['v1', 'groups'],
  ['v1beta1', 'group'],
] as const)(
  'webhook authorizer sends the attributes in a review of %s',
  async (version, groups) => {
    const post = vi.fn(async () => ({ status: { allowed: true, reason: 'because' } }));
    const decision = await authorizer(post, version)(attributes);
    expect(decision).toEqual({ verdict: 'allow', reason: 'because' });
    expect(post).toHaveBeenCalledWith(
      expect.objectContaining({
        kind: 'SubjectAccessReview',
        spec: {
          resourceAttributes: {
            ...{ namespace: 'ns', verb: 'get', version: 'v1', resource: 'pods' },
            ...{ subresource: 'log', name: 'p' },
          },
          ...{ user: 'ann', uid: '1', [groups]: ['dev'], extra: { scope: ['a'] } },
        },
      }),
    );
  },
);

it('webhook authorizer sends paths that name no resource', async () => {
  const post = vi.fn(async () => ({ status: { denied: true, reason: 'never' } }));
  const other = { user, info: { ...info, isResource: false, path: '/metrics' } };
  expect(await authorizer(post)(other)).toEqual({ verdict: 'deny', reason: 'never' });
  expect(post).toHaveBeenCalledWith(
    expect.objectContaining({
      spec: expect.objectContaining({ nonResourceAttributes: { path: '/metrics', verb: 'get' } }),
    }),
  );
});

it('webhook authorizer caches permissions and refusals for periods of their own', async () => {
  nowMs = 0;
  const post = vi.fn(async (review: object) => ({
    status: { allowed: JSON.stringify(review).includes('"ann"') },
  }));
  const authorize = authorizer(post);
  const bob = { user: { ...user, name: 'bob' }, info };
  for (const each of [attributes, attributes, bob, bob]) await authorize(each);
  expect(post).toHaveBeenCalledTimes(2);
  nowMs = 101;
  for (const each of [attributes, bob]) await authorize(each);
  expect(post).toHaveBeenCalledTimes(3);
  nowMs = 1_001;
  await authorize(attributes);
  expect(post).toHaveBeenCalledTimes(4);
});

it('webhook authorizer does not cache a review of excessive length', async () => {
  const post = vi.fn(async () => ({ status: { allowed: true } }));
  const authorize = authorizer(post);
  const long = { user, info: { ...info, name: 'x'.repeat(20_000) } };
  await authorize(long);
  await authorize(long);
  expect(post).toHaveBeenCalledTimes(2);
});

it.each<[string, unknown]>([
  ['text', 'hello'],
  ['another kind', { kind: 'TokenReview', status: { allowed: true } }],
  ['a word for the verdict', { status: { allowed: 'true' } }],
  ['a number for the denial', { status: { allowed: true, denied: 0 } }],
  ['a reason that is no text', { status: { allowed: true, reason: {} } }],
])('webhook authorizer that gets %s allows nothing', async (_what, response) => {
  await expect(authorizer(async () => response)(attributes)).rejects.toThrow(AuthorizationError);
});

it('a later authorizer may allow when the webhook fails, but not when it denies and allows', async () => {
  const failing = authorizer(async () => {
    throw new ReviewError('broken');
  });
  expect(await unionOfAuthorizers([failing, async () => allow])(attributes)).toBe(allow);
  await expect(unionOfAuthorizers([failing])(attributes)).rejects.toThrow('broken');
  await expect(unionOfAuthorizers([failing, failing])(attributes)).rejects.toThrow(
    '[broken, broken]',
  );
  const lying = authorizer(async () => ({ status: { allowed: true, denied: true } }));
  await expect(unionOfAuthorizers([lying, async () => allow])(attributes)).rejects.toMatchObject({
    isDenial: true,
  });
});
