import type { Clock } from '@orch/component';
import { beforeEach, expect, it, vi } from 'vitest';
import { ReviewError } from '../webhooks/review.js';
import { TokenError } from './token-authenticator.js';
import { tokenWebhook } from './token-webhook.js';

let nowMs = 0;
const clock: Clock = {
  nowMs: () => nowMs,
  monotonicMs: () => nowMs,
  setTimer: () => ({ cancel() {} }),
};
const observer = { lookedUp: vi.fn(), fetchBegan: vi.fn(), fetchEnded: vi.fn() };

beforeEach(() => {
  nowMs = 0;
  vi.clearAllMocks();
});

function webhook(post: (review: object) => Promise<unknown>, cacheMs = 1_000) {
  const authenticate = tokenWebhook({
    post,
    version: 'v1',
    cacheMs,
    apiAudiences: ['api'],
    clock,
    observer,
  });
  return (token: string, audiences = ['api']) => authenticate(token, audiences);
}

const accepted = { status: { authenticated: true, user: { username: 'ann', groups: ['dev'] } } };

it('token webhook sends the token with its audiences and returns the user', async () => {
  const post = vi.fn(async () => accepted);
  const identity = await webhook(post)('t', ['api', 'other']);
  expect(identity?.user).toMatchObject({ name: 'ann', groups: ['dev', 'system:authenticated'] });
  expect(identity?.audiences).toEqual(['api']);
  expect(post).toHaveBeenCalledWith(
    expect.objectContaining({ spec: { token: 't', audiences: ['api', 'other'] } }),
  );
});

it('token webhook caches accepted and rejected tokens, each for the period', async () => {
  const post = vi.fn(async (review: object) =>
    JSON.stringify(review).includes('"good"') ? accepted : { status: { authenticated: false } },
  );
  const authenticate = webhook(post);
  for (const token of ['good', 'good', 'bad', 'bad']) await authenticate(token);
  expect(post).toHaveBeenCalledTimes(2);
  nowMs = 1_001;
  expect(await authenticate('good')).toBeDefined();
  expect(await authenticate('bad')).toBeUndefined();
  expect(post).toHaveBeenCalledTimes(4);
  expect(observer.lookedUp.mock.calls.map(([status]) => status)).toEqual([
    ...['miss', 'hit', 'miss', 'hit', 'miss', 'miss'],
  ]);
});

it('token webhook gets one review for concurrent requests, and one each without a cache', async () => {
  const post = vi.fn(async () => accepted);
  const authenticate = webhook(post, 0);
  await Promise.all([authenticate('t'), authenticate('t')]);
  expect(post).toHaveBeenCalledTimes(1);
  await authenticate('t');
  expect(post).toHaveBeenCalledTimes(2);
});

it('token webhook is called again after a failure', async () => {
  const post = vi.fn<() => Promise<unknown>>().mockRejectedValueOnce(new ReviewError('broken'));
  post.mockResolvedValue(accepted);
  const authenticate = webhook(post);
  await expect(authenticate('t')).rejects.toThrow(TokenError);
  expect((await authenticate('t'))?.user.name).toBe('ann');
  expect(observer.fetchEnded.mock.calls).toEqual([['error'], ['ok']]);
});

it.each<[string, unknown]>([
  ['text', 'hello'],
  ['nothing', null],
  ['a list', [accepted]],
  ['another kind', { ...accepted, kind: 'SubjectAccessReview' }],
  ['another version', { ...accepted, apiVersion: 'authentication.orch.io/v2' }],
  ['a status that is no object', { status: 'authenticated' }],
  ['a word for the verdict', { status: { ...accepted.status, authenticated: 'true' } }],
  ['a user that is text', { status: { authenticated: true, user: 'ann' } }],
  ['a name that is no text', { status: { authenticated: true, user: { username: ['ann'] } } }],
  [
    'groups that are text',
    { status: { authenticated: true, user: { username: 'ann', groups: 'system:masters' } } },
  ],
  [
    'extra values that are no lists',
    { status: { authenticated: true, user: { username: 'ann', extra: { a: 'b' } } } },
  ],
  ['an error', { status: { authenticated: false, error: 'expired' } }],
])('token webhook that returns %s accepts no user', async (_what, response) => {
  await expect(webhook(async () => response)('t')).rejects.toThrow(TokenError);
});

it('token webhook that names only other audiences accepts no user', async () => {
  const status = { ...accepted.status, audiences: ['vault'] };
  expect(await webhook(async () => ({ status }))('t')).toBeUndefined();
});

it('token webhook that names no user gives no groups', async () => {
  const status = { authenticated: true, user: { groups: ['system:masters'] } };
  const identity = await webhook(async () => ({ status }))('t');
  expect(identity?.user).toEqual({ name: '', uid: '', groups: [], extra: {} });
});

it('token webhook that repeats the token does not leak it into the error', async () => {
  const post = async () => {
    throw new ReviewError('cannot read token very-secret');
  };
  await expect(webhook(post)('very-secret')).rejects.toThrow('cannot read token <token>');
});
