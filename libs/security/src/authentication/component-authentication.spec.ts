import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as send } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ComponentServer,
  createAuthority,
  createLogger,
  DelegatedAuthorizer,
  FatalError,
  HealthChecks,
  issueCertificate,
  type KeyPairPem,
  Metrics,
  type ServingUser,
  systemClock,
} from '@orch/component';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ComponentAuthentication } from './component-authentication.js';

const hourMs = 3_600_000;
const logger = createLogger({ component: 'test', format: 'text', level: 'fatal' });
const directory = mkdtempSync(join(tmpdir(), 'orch-component-authentication-'));
const noProxy = { clientCaFile: '', allowedNames: [], userHeaders: [], groupHeaders: [] };
const proxyFlags = { ...noProxy, extraPrefixes: [] };
const authorities: Record<'users' | 'proxies' | 'others', KeyPairPem> = Object.create(null);
const clients: Record<'user' | 'proxy' | 'stranger', KeyPairPem> = Object.create(null);
let serverPair: KeyPairPem;

async function issued(authority: KeyPairPem, commonName: string, usage: 'client' | 'server') {
  const names = { commonName, organizations: ['dev'], hosts: ['127.0.0.1'] };
  return issueCertificate(authority, { ...names, usages: [usage], validMs: hourMs }, systemClock);
}

beforeAll(async () => {
  for (const name of ['users', 'proxies', 'others'] as const) {
    authorities[name] = await createAuthority(name, hourMs, systemClock);
  }
  clients.user = await issued(authorities.users, 'ann', 'client');
  clients.proxy = await issued(authorities.proxies, 'aggregator', 'client');
  clients.stranger = await issued(authorities.others, 'eve', 'client');
  serverPair = await issued(authorities.users, 'server', 'server');
});
afterAll(() => rmSync(directory, { recursive: true }));

const published = () => ({
  'client-ca-file': authorities.users.certificatePem,
  'requestheader-client-ca-file': authorities.proxies.certificatePem,
  'requestheader-allowed-names': '["aggregator"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
});

describe('ComponentAuthentication', () => {
  let authentication: ComponentAuthentication;
  let server: ComponentServer;
  let reviewed: ServingUser[];

  const create = (clientCaFile = '', skipLookup = false) =>
    new ComponentAuthentication({
      options: { clientCaFile, skipLookup, proxy: proxyFlags },
      clock: systemClock,
      logger,
    });

  async function serve(one: ComponentAuthentication): Promise<void> {
    authentication = one;
    reviewed = [];
    const tls = () => ({
      pair: serverPair,
      clientAuthoritiesPem: one.authoritiesPem,
      minVersion: 'VersionTLS12' as const,
    });
    server = new ComponentServer({
      ...{ bindAddress: '127.0.0.1', port: 0, tls: tls(), alwaysAllowPaths: [], logger },
      ...{ health: new HealthChecks(), metrics: new Metrics(), configuration: () => ({}) },
      ...{ profiling: false, contentionProfiling: false, authentication: one },
      authorizer: new DelegatedAuthorizer({
        async postReview(_path, body) {
          reviewed.push((body as { spec: ServingUser }).spec);
          return { status: { allowed: true } };
        },
        ...{ tokenTtlMs: 0, authorizedTtlMs: 0, unauthorizedTtlMs: 0 },
        ...{ clock: systemClock, allowAnonymous: true },
      }),
    });
    one.onChange(() => server.replaceTls(tls()));
    await server.start();
  }

  beforeEach(() => serve(create()));
  afterEach(() => server.stop());

  /** The status of a request, and the user who was reviewed for it. */
  function call(pair?: KeyPairPem, headers: Record<string, string> = {}) {
    reviewed.length = 0;
    return new Promise<[number, string?]>((resolve, reject) => {
      send(
        {
          ...{ host: '127.0.0.1', port: server.port, path: '/configz', headers, agent: false },
          ...{ rejectUnauthorized: false, cert: pair?.certificatePem, key: pair?.keyPem },
        },
        (response) => {
          response.resume();
          response.on('end', () => resolve([response.statusCode ?? 0, reviewed[0]?.user]));
        },
      )
        .on('error', reject)
        .end();
    });
  }

  it('accepts users of the published authority only after it is published', async () => {
    expect(await call()).toEqual([200, 'system:anonymous']);
    authentication.publish(published());
    expect(await call(clients.user)).toEqual([200, 'ann']);
    expect(reviewed[0]).toMatchObject({ groups: ['dev', 'system:authenticated'] });
  });

  it('rejects a certificate of another authority', async () => {
    authentication.publish(published());
    expect(await call(clients.stranger)).toEqual([401, undefined]);
  });

  it('believes the headers of the proxy, and of no other client', async () => {
    authentication.publish(published());
    const headers = { 'X-Remote-User': 'bob', 'X-Remote-Group': 'ops' };
    expect(await call(clients.proxy, headers)).toEqual([200, 'bob']);
    expect(reviewed[0]).toMatchObject({ groups: ['ops', 'system:authenticated'] });
    expect(await call(clients.user, headers)).toEqual([200, 'ann']);
    expect(await call(undefined, headers)).toEqual([200, 'system:anonymous']);
  });

  it('rejects users of an authority that is no longer published', async () => {
    authentication.publish(published());
    authentication.publish({
      ...published(),
      'client-ca-file': authorities.others.certificatePem,
    });
    expect(await call(clients.user)).toEqual([401, undefined]);
    expect(await call(clients.stranger)).toEqual([200, 'eve']);
  });

  it.each([
    ['client-ca-file', 'no certificate'],
    ['requestheader-allowed-names', '{}'],
  ])('keeps its settings when the published %s is not valid', async (key, text) => {
    authentication.publish(published());
    authentication.publish({ ...published(), [key]: text });
    expect(await call(clients.user)).toEqual([200, 'ann']);
  });

  it('prefers the file of a flag to the published authority, and follows it', async () => {
    const file = join(directory, 'users.crt');
    writeFileSync(file, authorities.others.certificatePem);
    await server.stop();
    await serve(create(file));
    authentication.publish(published());
    expect(await call(clients.user)).toEqual([401, undefined]);
    expect(await call(clients.stranger)).toEqual([200, 'eve']);
    writeFileSync(file, authorities.users.certificatePem);
    await authentication.poll();
    expect(await call(clients.user)).toEqual([200, 'ann']);
    expect(authentication.needsLookup).toBe(true);
  });

  it('needs no lookup if a flag skips it', () => {
    expect(create('', true).needsLookup).toBe(false);
  });

  it('refuses to start with a file that is missing', () => {
    expect(() => create(join(directory, 'missing.crt'))).toThrow(FatalError);
  });
});
