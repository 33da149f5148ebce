import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, type Server, request as send } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  createAuthority,
  issueCertificate,
  type KeyPairPem,
  serverTlsOptions,
  systemClock,
} from '@orch/component';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { unionOf } from './authenticator.js';
import { AuthorityError, CertificateAuthorities } from './certificate-authorities.js';
import { clientCertificates } from './client-certificates.js';
import { requestHeaders } from './request-headers.js';

const hourMs = 3_600_000;
const pairs: Record<string, KeyPairPem> = {};
const observer = { certificateUsed: () => undefined };
let wallMs = 0;
const clock = { ...systemClock, nowMs: () => Date.now() + wallMs };
let server: Server;
let allowedNames: string[] = [];

async function client(authority: KeyPairPem, commonName: string): Promise<KeyPairPem> {
  return issueCertificate(
    authority,
    { commonName, organizations: ['dev'], usages: ['client'], validMs: hourMs },
    systemClock,
  );
}

beforeAll(async () => {
  const authority = (name: string) => createAuthority(name, 10 * hourMs, systemClock);
  // Users and proxies have authorities of the same name, which differ only in their keys.
  const [users, proxies, strangers] = await Promise.all([
    authority('ca'),
    authority('ca'),
    authority('ca'),
  ]);
  pairs.user = await client(users, 'ann');
  pairs.proxy = await client(proxies, 'proxy');
  pairs.stranger = await client(strangers, 'proxy');
  pairs.server = await issueCertificate(
    users,
    { commonName: 'server', hosts: ['127.0.0.1'], usages: ['server'], validMs: hourMs },
    systemClock,
  );
  const tls = serverTlsOptions({
    pair: pairs.server,
    clientAuthoritiesPem: `${users.certificatePem}\n${proxies.certificatePem}`,
    minVersion: 'VersionTLS12',
  });
  server = createServer(tls, async (request, response) => {
    const authorities = CertificateAuthorities.parse(users.certificatePem, 'users.crt');
    const options = {
      authorities: CertificateAuthorities.parse(proxies.certificatePem, 'proxies.crt'),
      allowedNames,
      userHeaders: ['X-Remote-User', 'X-Other-User'],
      groupHeaders: ['X-Remote-Group'],
      extraPrefixes: ['X-Remote-Extra-'],
    };
    const authenticate = unionOf([
      requestHeaders(options, clock),
      clientCertificates({ authorities, clock, observer }),
    ]);
    try {
      response.end(JSON.stringify((await authenticate(request)) ?? 'anonymous'));
    } catch (error) {
      response.end(JSON.stringify((error as { code?: unknown }).code ?? String(error)));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  wallMs = 0;
  allowedNames = [];
});

afterAll(() => server.close());

async function userOf(pair: KeyPairPem | undefined, headers: Record<string, string | string[]>) {
  const { port } = server.address() as AddressInfo;
  const request = send({
    ...{ host: '127.0.0.1', port, headers, agent: false, rejectUnauthorized: false },
    ...(pair && { cert: pair.certificatePem, key: pair.keyPem }),
  });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return JSON.parse((await response.toArray()).join(''));
}

const forged = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' };

it('requestHeaders believes a proxy about user, groups and extra', async () => {
  const headers = {
    'X-Remote-User': Buffer.from('änne').toString('latin1'),
    'X-Remote-Group': ['a', 'b, c'],
    'X-Remote-Extra-example.com%2fScope': ['read', 'write'],
  };
  expect(await userOf(pairs.proxy, headers)).toEqual({
    name: 'änne',
    uid: '',
    groups: ['a', 'b, c', 'system:authenticated'],
    extra: { 'example.com/scope': ['read', 'write'] },
  });
  expect((await userOf(pairs.proxy, { 'X-Other-User': 'bob' })).name).toBe('bob');
});

it('requestHeaders ignores forged headers of a user with a certificate', async () => {
  expect(await userOf(pairs.user, forged)).toMatchObject({
    name: 'ann',
    groups: ['dev', 'system:authenticated'],
  });
});

it('requestHeaders ignores forged headers of a client without a certificate', async () => {
  expect(await userOf(undefined, forged)).toBe('anonymous');
});

it('a certificate of an unknown authority of the same name is rejected', async () => {
  expect(await userOf(pairs.stranger, forged)).toBe(401);
  expect(await userOf(pairs.stranger, {})).toBe(401);
});

it('the certificate of a proxy is no user', async () => {
  expect(await userOf(pairs.proxy, {})).toBe(401);
});

it('requestHeaders believes only proxies with an allowed name', async () => {
  allowedNames = ['other'];
  expect(await userOf(pairs.proxy, forged)).toBe(401);
  allowedNames = ['other', 'proxy'];
  expect((await userOf(pairs.proxy, forged)).name).toBe('root');
});

it('requestHeaders rejects two names for the user', async () => {
  expect(await userOf(pairs.proxy, { 'x-remote-user': ['root', 'ann'] })).toBe(401);
});

it('expired certificates are rejected', async () => {
  wallMs = 2 * hourMs;
  expect(await userOf(pairs.proxy, forged)).toBe(401);
  expect(await userOf(pairs.user, {})).toBe(401);
});

it.each([
  ['nothing', ''],
  ['garbage', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
])('CertificateAuthorities rejects a file that contains %s', (_what, pem) => {
  expect(() => CertificateAuthorities.parse(pem, 'ca.crt')).toThrow(AuthorityError);
});
