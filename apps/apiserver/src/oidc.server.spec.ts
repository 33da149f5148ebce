/** ID tokens of a real OpenID Connect provider, on a complete server. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientId, OpenIdProvider } from './testing/openid-provider.js';
import { RunningServer } from './testing/running-server.js';

let provider: OpenIdProvider;
let server: RunningServer;

beforeAll(async () => {
  provider = await OpenIdProvider.start();
  server = await RunningServer.start([
    `--oidc-issuer-url=${provider.issuer}`,
    `--oidc-client-id=${clientId}`,
    `--oidc-ca-file=${provider.authorityFile}`,
    '--oidc-username-claim=email',
    '--oidc-username-prefix=oidc:',
    '--oidc-groups-claim=groups',
    '--oidc-groups-prefix=oidc:',
    '--oidc-required-claim=tenant=a',
  ]);
});

afterAll(async () => {
  await server.stop();
  await provider.stop();
});

const ann = { email: 'ann@example.com', email_verified: true, groups: ['dev'], tenant: 'a' };

async function review(token: string) {
  const body = {
    apiVersion: 'authentication.orch.io/v1',
    kind: 'TokenReview',
    spec: { token },
  };
  const { body: reviewed } = await server.call(
    'POST',
    '/apis/authentication.orch.io/v1/tokenreviews',
    { body },
  );
  return reviewed.status;
}

const isAccepted = async () => (await review(await provider.idToken('2', ann))).authenticated;

describe('ID tokens', () => {
  it('authenticate a user with prefixed name and groups', async () => {
    const token = await provider.idToken('1', ann);
    expect(await review(token)).toMatchObject({
      authenticated: true,
      user: {
        username: 'oidc:ann@example.com',
        groups: ['oidc:dev', 'system:authenticated'],
      },
    });
    expect((await server.call('GET', '/api', { token })).code).toBe(200);
  });

  it.each([
    ['another value of a required claim', { ...ann, tenant: 'b' }],
    ['an address that is not verified', { ...ann, email_verified: false }],
    ['no user name', { ...ann, email: undefined }],
    ['groups that are no texts', { ...ann, groups: [1] }],
  ])('prove nothing with %s', async (_what, claims) => {
    const token = await provider.idToken('1', claims);
    expect((await review(token)).authenticated).toBeUndefined();
    expect((await server.call('GET', '/api', { token })).code).toBe(401);
  });

  it('prove nothing with a changed payload', async () => {
    const [head, payload = '', signature] = (await provider.idToken('1', ann)).split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...claims, email: 'bob@example.com' }));
    const token = [head, forged.toString('base64url'), signature].join('.');
    expect((await review(token)).authenticated).toBeUndefined();
  });

  it('prove nothing without a signature', async () => {
    const [, payload] = (await provider.idToken('1', ann)).split('.');
    const head = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
    expect((await review(`${head}.${payload}.`)).authenticated).toBeUndefined();
  });

  it('prove nothing with an algorithm that is not accepted', async () => {
    provider.rotate('ES256', 'elliptic');
    expect((await review(await provider.idToken('1', ann))).authenticated).toBeUndefined();
  });

  it('of a new key are accepted soon, and tokens that were verified stay valid', async () => {
    provider.rotate('RS256', 'third');
    await expect.poll(isAccepted, { timeout: 15_000 }).toBe(true);
    const before = await provider.idToken('2', ann);
    expect((await review(before)).authenticated).toBe(true);
    provider.rotate('RS256', 'second');
    await expect.poll(isAccepted, { timeout: 15_000 }).toBe(true);
    expect((await review(before)).authenticated).toBe(true);
  }, 40_000);
});
