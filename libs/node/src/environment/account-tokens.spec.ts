import { type ApiClient, ApiError } from '@orch/client';
import type { Clock } from '@orch/component';
import type { TokenRequest } from '@orch/types/authentication/v1';
import type { Pod } from '@orch/types/core/v1';
import { expect, it } from 'vitest';
import { jsonResponse } from '../../../client/src/testing/json-response.js';
import { TokenManager } from './account-tokens.js';
import { BrokenReference } from './referenced-objects.js';

const pod: Pod = {
  metadata: { namespace: 'ns', name: 'p', uid: 'u' },
  spec: { containers: [], serviceAccountName: 'builder' },
};
const source = { path: 'token', expirationSeconds: 1_000 };

/** An API that issues `token-1`, `token-2`, ... or fails, and a manual clock. */
function given() {
  let nowMs = 1_000_000;
  const asked: { path: string; body: TokenRequest }[] = [];
  const api = { refuses: false };
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    setTimer: () => ({ cancel: () => undefined }),
  };
  const request: ApiClient['request'] = async (_method, path, options) => {
    if (api.refuses) throw new ApiError(403, 'Forbidden', 'no');
    asked.push({ path, body: options?.body as TokenRequest });
    const expirationTimestamp = new Date(nowMs + 1_000_000).toISOString();
    const status = { token: `token-${asked.length}`, expirationTimestamp };
    return jsonResponse({ status });
  };
  const tokens = new TokenManager({
    client: { request },
    clock,
    logger: { warn: () => undefined },
  });
  return { tokens, asked, api, pass: (seconds: number) => (nowMs += seconds * 1_000) };
}

it('requests a token that is bound to the pod, and caches it for most of its lifetime', async () => {
  const { tokens, asked, pass } = given();
  expect(await tokens.token(pod, source)).toBe('token-1');
  expect(asked[0]?.path).toBe('/api/v1/namespaces/ns/serviceaccounts/builder/token');
  expect(asked[0]?.body.spec).toEqual({
    audiences: [],
    expirationSeconds: 1_000,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' },
  });
  pass(799);
  expect(await tokens.token(pod, source)).toBe('token-1');
  pass(2);
  expect(await tokens.token(pod, source)).toBe('token-2');
});

it('caches tokens by audience and pod', async () => {
  const { tokens, asked } = given();
  await tokens.token(pod, source);
  await tokens.token(pod, { ...source, audience: 'vault' });
  await tokens.token({ ...pod, metadata: { ...pod.metadata, uid: 'v' } }, source);
  expect(asked).toHaveLength(3);
  expect(asked[1]?.body.spec.audiences).toEqual(['vault']);
});

it('returns the old token while renewals fail, until it expires', async () => {
  const { tokens, api, pass } = given();
  await tokens.token(pod, source);
  api.refuses = true;
  pass(900);
  expect(await tokens.token(pod, source)).toBe('token-1');
  pass(101);
  await expect(tokens.token(pod, source)).rejects.toThrow(BrokenReference);
});
