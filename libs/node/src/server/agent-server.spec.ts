/**
 * What clients without rights reach on the port of the agent. Every path of the agent is read with
 * each kind of credentials, as a request and as an upgrade.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as sendRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAuthority,
  createLogger,
  HealthChecks,
  issueCertificate,
  type KeyPairPem,
  Metrics,
  parseOptions,
  systemClock,
} from '@orch/component';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NodeAgentOptions } from '../node-agent-options.js';
import {
  type AgentServer,
  type AgentServerDependencies,
  startAgentServer,
} from './agent-server.js';

const validMs = 60 * 60_000;
const plainPaths = [
  ...['/pods', '/metrics', '/metrics/resource', '/metrics/cadvisor', '/metrics/probes'],
  ...['/stats/summary', '/stats', '/spec', '/logs/', '/configz', '/debug/pprof/', '/nothing', '/'],
  ...['/containerLogs/default/p/main', '/run/default/p/main?cmd=id', '/healthz/ping'],
  // Normalized before they are authorized.
  ...['/healthz/../pods', '/x/%2e%2e/pods', '/%70ods', '/metrics%2fresource', '/%zz'],
];
const streamPaths = [
  ...['/exec/default/p/main?command=id&output=1', '/attach/default/p/main?output=1'],
  ...['/portForward/default/p', '/ex%65c/default/p/main?command=id&output=1', '/nothing'],
];
const upgrades = {
  WebSocket: {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-protocol': 'v4.channel.orch.io',
  },
  SPDY: { upgrade: 'SPDY/3.1' },
};

interface Credentials {
  readonly token?: string;
  readonly pair?: KeyPairPem;
}

let directory: string;
let ownAuthority: KeyPairPem;
let otherAuthority: KeyPairPem;
let clientPair: KeyPairPem;
let foreignPair: KeyPairPem;
const servers: AgentServer[] = [];

async function issue(authority: KeyPairPem, commonName: string): Promise<KeyPairPem> {
  const request = { commonName, organizations: ['team'], usages: ['client'] as const, validMs };
  return issueCertificate(authority, request, systemClock);
}

/** The reviews of an API server with two users, of whom only `metrics-reader` may read metrics. */
const postReview: AgentServerDependencies['postReview'] = async (path, body) => {
  const { spec } = body as {
    spec: {
      token?: string;
      user?: string;
      resourceAttributes?: { verb: string; subresource: string };
    };
  };
  if (path.endsWith('/tokenreviews')) {
    const names: Record<string, string> = { useless: 'nobody', metrics: 'metrics-reader' };
    const username = names[spec.token ?? ''];
    return { status: { authenticated: username !== undefined, user: { username } } };
  }
  const { verb, subresource } = spec.resourceAttributes!;
  const allowed = spec.user === 'metrics-reader' && verb === 'get' && subresource === 'metrics';
  return { status: { allowed } };
};

async function start(...flags: string[]): Promise<AgentServer> {
  const options = parseOptions(
    NodeAgentOptions,
    [
      ...['--node-name=node-a', '--address=127.0.0.1', '--port=0', `--root-dir=${directory}`],
      ...['--authentication-token-webhook', `--client-ca-file=${join(directory, 'ca.pem')}`],
      ...flags,
    ],
    { program: 'test', description: '', version: '' },
  );
  const unreachable = () => expect.unreachable('the request was not refused');
  const server = await startAgentServer({
    options,
    nodeName: 'node-a',
    runtime: new Proxy({}, { get: unreachable }) as AgentServerDependencies['runtime'],
    workers: new Proxy({}, { get: unreachable }) as AgentServerDependencies['workers'],
    machine: {} as AgentServerDependencies['machine'],
    stats: { snapshot: undefined },
    prober: { counts: { list: () => [] } } as unknown as AgentServerDependencies['prober'],
    health: new HealthChecks(),
    metrics: new Metrics(),
    postReview,
    clock: systemClock,
    logger: createLogger({ component: 'test', format: 'text', level: 'fatal' }),
  });
  servers.push(server);
  return server;
}

/** The status of the response; 101 if the connection is upgraded. */
function statusOf(
  { port }: AgentServer,
  path: string,
  { token, pair }: Credentials,
  options: { method?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = sendRequest({
      ...{ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false },
      method: options.method ?? 'GET',
      ...(pair && { cert: pair.certificatePem, key: pair.keyPem }),
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(options.headers && { connection: 'Upgrade', ...options.headers }),
      },
    });
    const done = ({ statusCode = 0, socket }: IncomingMessage) => {
      socket.destroy();
      resolve(statusCode);
    };
    request.on('response', done).on('upgrade', done).on('error', reject).end();
  });
}

async function expectStatus(server: AgentServer, credentials: Credentials, status: number) {
  const found: [string, number][] = [];
  const expected: [string, number][] = [];
  for (const path of plainPaths) {
    for (const method of ['GET', 'POST']) {
      found.push([`${method} ${path}`, await statusOf(server, path, credentials, { method })]);
      expected.push([`${method} ${path}`, status]);
    }
  }
  for (const path of streamPaths) {
    for (const [name, headers] of Object.entries(upgrades)) {
      found.push([`${name} ${path}`, await statusOf(server, path, credentials, { headers })]);
      expected.push([`${name} ${path}`, status]);
    }
  }
  expect(found).toEqual(expected);
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'orch-agent-server-'));
  ownAuthority = await createAuthority('own', validMs, systemClock);
  otherAuthority = await createAuthority('other', validMs, systemClock);
  writeFileSync(join(directory, 'ca.pem'), ownAuthority.certificatePem);
  clientPair = await issue(ownAuthority, 'ann');
  foreignPair = await issue(otherAuthority, 'metrics-reader');
});

afterAll(async () => {
  for (const server of servers) await server.stop();
  rmSync(directory, { recursive: true });
});

describe.each([true, false])('the port of the agent, anonymous users %s', (anonymous) => {
  let server: AgentServer;

  beforeAll(async () => {
    server = await start('--authorization-mode=Webhook', `--anonymous-auth=${anonymous}`);
  });

  it.each<[string, () => Credentials, number]>([
    ['no credentials', () => ({}), anonymous ? 403 : 401],
    ['a wrong token', () => ({ token: 'wrong' }), 401],
    ['a certificate of another authority', () => ({ pair: foreignPair }), 401],
    ['a token without right', () => ({ token: 'useless' }), 403],
    ['a certificate without right', () => ({ pair: clientPair }), 403],
  ])('refuses every path with %s', async (_what, credentials, status) => {
    await expectStatus(server, credentials(), status);
  });

  it('serves health to every client', async () => {
    for (const credentials of [{}, { token: 'wrong' }, { pair: foreignPair }]) {
      expect(await statusOf(server, '/healthz', credentials)).toBe(200);
    }
  });

  it('serves the paths that the user may read, and no other', async () => {
    const credentials = { token: 'metrics' };
    for (const path of ['/metrics', '/metrics/probes', '/pods/../metrics']) {
      expect([path, await statusOf(server, path, credentials)]).toEqual([path, 200]);
    }
    for (const path of ['/pods', '/stats/summary', '/metrics/../pods', '/metrics%2fresource']) {
      expect([path, await statusOf(server, path, credentials)]).toEqual([path, 403]);
    }
    const method = 'POST';
    expect(await statusOf(server, '/metrics', credentials, { method })).toBe(403);
    for (const [path] of streamPaths.map((each) => each.split('?'))) {
      const target = `/metrics/..${path}?command=id&output=1`;
      const status = await statusOf(server, target, credentials, { headers: upgrades.WebSocket });
      expect([target, status]).toEqual([target, 403]);
    }
  });
});

describe('the port of an agent that authorizes every user', () => {
  it('refuses clients that prove no user', async () => {
    const server = await start('--anonymous-auth=false');
    await expectStatus(server, {}, 401);
    await expectStatus(server, { token: 'wrong' }, 401);
    await expectStatus(server, { pair: foreignPair }, 401);
  });

  it('lets anonymous users not enter pods', async () => {
    const server = await start();
    expect(await statusOf(server, '/metrics', {})).toBe(200);
    expect(await statusOf(server, '/metrics', { pair: foreignPair })).toBe(401);
    for (const path of streamPaths.filter((each) => each !== '/nothing')) {
      for (const headers of Object.values(upgrades)) {
        expect([path, await statusOf(server, path, {}, { headers })]).toEqual([path, 401]);
      }
    }
  });
});
