import { dialect, Metrics } from '@orch/component';
import type { ObjectMeta } from '@orch/types/meta/v1';
import { SignJWT } from 'jose';
import { beforeEach, expect, it } from 'vitest';
import { createSigningKeyPem, serviceAccountKeys } from '../tokens/service-account-keys.js';
import { ServiceAccountTokens } from '../tokens/service-account-tokens.js';
import { AuthenticationMetrics } from './authentication-metrics.js';
import type { BoundObject, ObjectLookup } from './object-lookup.js';
import { ServiceAccountAuthenticator } from './service-account-authenticator.js';

const keys = serviceAccountKeys({ path: 'key.pem', pem: await createSigningKeyPem() }, []);
const startMs = Date.parse('2026-01-01T00:00:00Z');
const account = { name: 'builder', uid: 'account-uid' };
const pod = { name: 'p', uid: 'pod-uid' };

let nowMs = startMs;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, setTimer: () => ({ cancel() {} }) };
const objects = new Map<string, BoundObject>();
const exists: ObjectLookup = async (plural, namespace, name, matches) => {
  const object = objects.get(`core/${plural}/${namespace}/${name}`);
  return object !== undefined && matches(object);
};
const tokens = new ServiceAccountTokens({
  keys,
  issuer: 'https://cluster.example',
  apiAudiences: ['api'],
  lifetimes: { secondsMax: 0, extendExpiration: false },
  clock,
});
const metrics = new Metrics();
const dependencies = {
  tokens,
  exists,
  lookup: true,
  clock,
  observer: new AuthenticationMetrics(metrics).tokenCache,
};
const authenticator = new ServiceAccountAuthenticator(dependencies);
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

it('authenticates the bearer as a user in the groups of accounts, with its pod as extra', async () => {
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

it('accepts a token for its audiences only', async () => {
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

const legacyClaims = () => {
  const claim = (name: string) => `${dialect().keyDomain}/serviceaccount/${name}`;
  return {
    [claim('namespace')]: 'ns',
    [claim('secret.name')]: 'builder-token',
    [claim('service-account.name')]: 'builder',
    [claim('service-account.uid')]: 'account-uid',
  };
};

function legacyToken(claims: Record<string, string> = legacyClaims()): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: keys.signing.id })
    .setIssuer(`${dialect().word}/serviceaccount`)
    .setSubject('system:serviceaccount:ns:builder')
    .sign(keys.signing.privateKey);
}

function storeToken(token: string, metadata: ObjectMeta = {}): void {
  const data = { token: Buffer.from(token).toString('base64') };
  objects.set('core/secrets/ns/builder-token', { metadata, data });
}

it('accepts a legacy token for the API while its secret stores it', async () => {
  const token = await legacyToken();
  storeToken(token);
  const identity = await authenticator.authenticate(token);
  expect(identity?.user).toMatchObject({
    name: 'system:serviceaccount:ns:builder',
    uid: 'account-uid',
  });
  expect(identity?.audiences).toEqual(['api']);
  expect(await authenticator.authenticate(token, ['vault'])).toBeUndefined();
  expect(await metrics.render()).toMatch(/^serviceaccount_legacy_tokens_total 1$/m);
});

it.each<[string, (token: string) => void]>([
  ['its secret is gone', () => objects.delete('core/secrets/ns/builder-token')],
  ['its secret stores another token', () => storeToken('other')],
  [
    'its secret was deleted',
    (token) => storeToken(token, { deletionTimestamp: '2025-12-31T00:00:00Z' }),
  ],
  ['the account was made anew', () => objects.set(accountKey, { metadata: { uid: 'new' } })],
])('rejects a legacy token when %s, unless lookups are off', async (_what, change) => {
  const token = await legacyToken();
  storeToken(token);
  expect(await authenticator.authenticate(token)).toBeDefined();
  change(token);
  expect(await authenticator.authenticate(token)).toBeUndefined();
  const trusting = new ServiceAccountAuthenticator({ ...dependencies, lookup: false });
  expect(await trusting.authenticate(token)).toBeDefined();
});

it('rejects a legacy token without a claim, even when lookups are off', async () => {
  const trusting = new ServiceAccountAuthenticator({ ...dependencies, lookup: false });
  for (const name of Object.keys(legacyClaims())) {
    const { [name]: _missing, ...claims } = legacyClaims();
    expect(await trusting.authenticate(await legacyToken(claims))).toBeUndefined();
  }
});

it('accepts an injected token after its requested time, and counts it as stale', async () => {
  const extending = new ServiceAccountTokens({
    ...{ keys, issuer: 'https://cluster.example', apiAudiences: ['api'], clock },
    lifetimes: { secondsMax: 0, extendExpiration: true },
  });
  const { token, expiresMs } = await extending.issue(
    { namespace: 'ns', account, pod },
    ['api'],
    3_607,
  );
  expect(expiresMs).toBe(startMs + 3_607_000);
  nowMs = startMs + 3_606_000;
  expect(await authenticator.authenticate(token)).toBeDefined();
  expect(await metrics.render()).toMatch(/^serviceaccount_stale_tokens_total 0$/m);
  nowMs = startMs + 3_608_000;
  expect(await authenticator.authenticate(token)).toBeDefined();
  expect(await metrics.render()).toMatch(/^serviceaccount_stale_tokens_total 1$/m);
});

function seriesValue(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? 0);
}
