import { definitions } from '@orch/api';
import { dialect, Metrics } from '@orch/component';
import type { Entry, VersionedStore } from '@orch/store';
import { beforeEach, expect, it } from 'vitest';
import { AuthenticationMetrics } from '../observability/authentication-metrics.js';
import { ResourceTable } from '../registry/resource-table.js';
import { ServiceAccountAuthenticator } from './service-account-authenticator.js';
import { createSigningKeyPem, serviceAccountKeys } from './service-account-keys.js';
import { ServiceAccountTokens } from './service-account-tokens.js';

const keys = serviceAccountKeys({ path: 'key.pem', pem: await createSigningKeyPem() }, []);
const startMs = Date.parse('2026-01-01T00:00:00Z');
const account = { name: 'builder', uid: 'account-uid' };
const pod = { name: 'p', uid: 'pod-uid' };

let nowMs = startMs;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, setTimer: () => ({ cancel() {} }) };
const objects = new Map<string, object>();
const store = {
  get: async (key: string) => {
    const object = objects.get(key);
    const entry = object && ({ bytes: Buffer.from(JSON.stringify(object)) } as Entry);
    return { entry, revision: 1 };
  },
} as unknown as VersionedStore;
const tokens = new ServiceAccountTokens({
  keys,
  issuer: 'https://cluster.example',
  apiAudiences: ['api'],
  clock,
});
const metrics = new Metrics();
const authenticator = new ServiceAccountAuthenticator({
  tokens,
  store,
  table: new ResourceTable(definitions),
  clock,
  observer: new AuthenticationMetrics(metrics).tokenCache,
});
const accountKey = 'core/serviceaccounts/ns/builder';
const podKey = 'core/pods/ns/p';

beforeEach(() => {
  nowMs = startMs;
  objects.clear();
  objects.set(accountKey, { metadata: account });
  objects.set(podKey, { metadata: pod });
});

async function podToken(audiences = ['api']): Promise<string> {
  const { token } = await tokens.issue({ namespace: 'ns', account, pod }, audiences, 600);
  return token;
}

it('makes the bearer a user of the groups of accounts, and tells the pod', async () => {
  const identity = await authenticator.authenticate(await podToken());
  expect(identity).toEqual({
    user: {
      name: 'system:serviceaccount:ns:builder',
      uid: 'account-uid',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      extra: {
        [dialect().key('pod-name', 'authentication')]: ['p'],
        [dialect().key('pod-uid', 'authentication')]: ['pod-uid'],
      },
    },
    audiences: ['api'],
  });
});

it.each([
  ['the account is gone', () => objects.delete(accountKey)],
  ['the account was made anew', () => objects.set(accountKey, { metadata: { uid: 'new' } })],
  ['the pod is gone', () => objects.delete(podKey)],
  ['the pod was made anew', () => objects.set(podKey, { metadata: { uid: 'new' } })],
  ['the token has ended', () => (nowMs += 661_000)],
])('refuses a token it knew once %s', async (_what, change) => {
  const token = await podToken();
  expect(await authenticator.authenticate(token)).toBeDefined();
  change();
  expect(await authenticator.authenticate(token)).toBeUndefined();
});

it('lets a pod that is being deleted work until a minute after its end', async () => {
  const token = await podToken();
  const deletionTimestamp = '2026-01-01T00:00:30Z';
  objects.set(podKey, { metadata: { ...pod, deletionTimestamp } });
  nowMs = startMs + 89_000;
  expect(await authenticator.authenticate(token)).toBeDefined();
  nowMs = startMs + 91_000;
  expect(await authenticator.authenticate(token)).toBeUndefined();
});

it('takes a token for the audiences it was made for only', async () => {
  const token = await podToken(['vault']);
  expect(await authenticator.authenticate(token)).toBeUndefined();
  const identity = await authenticator.authenticate(token, ['api', 'vault']);
  expect(identity?.audiences).toEqual(['vault']);
});

it('counts tokens verified before and new ones apart', async () => {
  const before = await metrics.render();
  const token = await podToken(['api', 'metrics']);
  await authenticator.authenticate(token);
  await authenticator.authenticate(token);
  await authenticator.authenticate('not a token');
  const after = await metrics.render();
  const grown = (series: string) => seriesValue(after, series) - seriesValue(before, series);
  expect(grown('authentication_token_cache_request_total{status="hit"}')).toBe(1);
  expect(grown('authentication_token_cache_request_total{status="miss"}')).toBe(2);
  expect(grown('authentication_token_cache_request_duration_seconds_count{status="miss"}')).toBe(2);
  expect(grown('authentication_token_cache_fetch_total{status="ok"}')).toBe(2);
  expect(
    seriesValue(after, 'authentication_token_cache_active_fetch_count{status="in_flight"}'),
  ).toBe(0);
  expect(grown('serviceaccount_valid_tokens_total')).toBe(2);
});

function seriesValue(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}
