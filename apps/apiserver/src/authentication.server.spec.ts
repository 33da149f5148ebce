import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, dialect, systemClock } from '@orch/component';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const directory = mkdtempSync(join(tmpdir(), 'orch-authentication-'));
const file = (name: string) => join(directory, name);
const whoAmI = '/apis/authorization.orch.io/v1/selfsubjectaccessreviews';
const secrets = () => `/api/v1/namespaces/${dialect().systemNamespace}/secrets`;
let server: RunningServer;
let proxiesPem: string;

beforeAll(async () => {
  proxiesPem = (await createAuthority('proxies', 3_600_000, systemClock)).certificatePem;
  writeFileSync(file('proxies.crt'), proxiesPem);
  writeFileSync(file('passwords.csv'), 'opensesame,ann,1,dev\n');
  server = await RunningServer.start([
    `--basic-auth-file=${file('passwords.csv')}`,
    `--requestheader-client-ca-file=${file('proxies.crt')}`,
    '--requestheader-allowed-names=aggregator',
    '--requestheader-username-headers=X-Remote-User',
    '--enable-bootstrap-token-auth',
  ]);
});

afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true });
});

/** The status of a request that authenticated users may make, and anonymous users may not. */
async function codeWith(headers: Record<string, string>): Promise<number> {
  const body = { spec: { nonResourceAttributes: { verb: 'get', path: '/' } } };
  return (await server.call('POST', whoAmI, { token: null, headers, body })).code;
}

it('publishes the authenticating proxy for servers behind this one', async () => {
  const path = `/api/v1/namespaces/${dialect().systemNamespace}/configmaps/extension-apiserver-authentication`;
  const { body } = await server.call('GET', path);
  expect(body.data).toMatchObject({
    'requestheader-client-ca-file': expect.stringContaining('BEGIN CERTIFICATE'),
    'requestheader-allowed-names': '["aggregator"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-group-headers': '["x-remote-group"]',
    'requestheader-extra-headers-prefix': '["x-remote-extra-"]',
  });
  expect(body.data).not.toHaveProperty('client-ca-file');
});

it('admits a user with a password and rejects a wrong password', async () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  expect(await codeWith({ authorization: basic('ann:opensesame') })).toBe(201);
  expect(await codeWith({ authorization: basic('ann:other') })).toBe(401);
});

it('treats forged headers without the certificate of a proxy as anonymous', async () => {
  const forged = { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' };
  expect(await codeWith(forged)).toBe(403);
});

it('admits a bootstrap token until its secret is deleted', async () => {
  const token = 'abcdef.0123456789abcdef';
  const stringData = {
    ...{ 'token-id': 'abcdef', 'token-secret': '0123456789abcdef' },
    ...{ 'usage-bootstrap-authentication': 'true', expiration: '2999-01-01T00:00:00Z' },
  };
  const type = `bootstrap.${dialect().keyDomain}/token`;
  const body = { metadata: { name: 'bootstrap-token-abcdef' }, type, stringData };
  expect(await codeWith({ authorization: `Bearer ${token}` })).toBe(401);
  expect((await server.call('POST', secrets(), { body })).code).toBe(201);
  const review = await server.call('POST', '/apis/authentication.orch.io/v1/tokenreviews', {
    body: { spec: { token } },
  });
  expect(review.body.status).toMatchObject({
    authenticated: true,
    user: {
      username: 'system:bootstrap:abcdef',
      groups: ['system:bootstrappers', 'system:authenticated'],
    },
  });
  expect(await codeWith({ authorization: `Bearer ${token}` })).toBe(201);
  await server.call('DELETE', `${secrets()}/bootstrap-token-abcdef`);
  expect(await codeWith({ authorization: `Bearer ${token}` })).toBe(401);
});

it('counts each outcome in the metrics', async () => {
  const attempts = async (result: string) => {
    const { text } = await server.call('GET', '/metrics');
    const series = `authentication_attempts{result="${result}"} `;
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(series))
        ?.slice(series.length),
    );
  };
  const [errors, successes] = [await attempts('error'), await attempts('success')];
  await codeWith({ authorization: 'Basic YTpi' });
  await codeWith({ authorization: 'Bearer abcdef.0123456789abcdef' });
  await codeWith({ 'X-Remote-User': 'admin' });
  expect((await attempts('error')) - errors).toBe(2);
  expect(await attempts('success')).toBeGreaterThan(successes);
});

it('a webhook mode without its file, and a file that is missing, end the start', async () => {
  await expect(RunningServer.start(['--authorization-mode=Webhook'])).rejects.toThrow(
    'belong together',
  );
  const missing = `--authentication-token-webhook-config-file=${file('missing')}`;
  await expect(RunningServer.start([missing])).rejects.toThrow('cannot read kubeconfig');
  await expect(RunningServer.start([`--basic-auth-file=${file('missing')}`])).rejects.toThrow(
    'cannot read',
  );
});
