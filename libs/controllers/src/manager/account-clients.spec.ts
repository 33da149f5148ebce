import { ApiError, type RequestOptions, resources } from '@orch/client';
import type { TokenRequest } from '@orch/types/authentication/v1';
import { afterEach, expect, it } from 'vitest';
import { jsonResponse } from '../../../client/src/testing/json-response.js';
import { MemoryApiClient } from '../../../client/src/testing/memory-api-client.js';
import { MemoryApiServer } from '../../../client/src/testing/memory-api-server.js';
import { quietLogger } from '../../../client/test/support.js';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { AccountClients } from './account-clients.js';
import { AccountToken } from './account-token.js';
import { controllers } from './registry.js';
import { accountNameOf, hasAccount } from './service-accounts.js';

const lifetimeMs = 3_600_000;
const stopping: AbortController[] = [];
afterEach(() => {
  for (const controller of stopping.splice(0)) controller.abort(new Error('the test has ended'));
});

/** Issues `<account>-1`, `<account>-2`, ... for accounts that exist, or fails. */
class TokenClient extends MemoryApiClient {
  failure: ApiError | undefined;
  readonly bodies: TokenRequest[] = [];
  derivedOptions: object[] = [];

  constructor(
    private readonly accounts: MemoryApiServer,
    private readonly clock: TestClock,
  ) {
    super(accounts);
  }

  override derive(...changes: object[]): MemoryApiClient {
    this.derivedOptions.push(...changes);
    return this;
  }

  override async request(method: string, path: string, options: RequestOptions = {}) {
    const account = /^\/api\/v1\/namespaces\/orch-system\/serviceaccounts\/(.*)\/token$/.exec(path);
    if (!account) return super.request(method, path, options);
    if (this.failure) throw this.failure;
    const stored = this.accounts.get(resources.serviceAccounts, `orch-system/${account[1]}`);
    if (!stored) throw new ApiError(404, 'NotFound', 'no such account');
    this.bodies.push(options.body as TokenRequest);
    const expirationTimestamp = new Date(this.clock.nowMs() + lifetimeMs).toISOString();
    const token = `${account[1]}-${this.bodies.length}`;
    return jsonResponse({ status: { token, expirationTimestamp } });
  }
}

function given() {
  const clock = new TestClock();
  const server = new MemoryApiServer({ clock, random: () => 0.5 });
  const client = new TokenClient(server, clock);
  const controller = new AbortController();
  stopping.push(controller);
  const { signal } = controller;
  const dependencies = { client, clock, logger: quietLogger, random: () => 0, signal };
  const seed = (name: string) =>
    server.seed(resources.serviceAccounts, { metadata: { name, namespace: 'orch-system' } });
  return { clock, server, client, controller, dependencies, seed };
}

async function started(name = 'deployment-controller') {
  const parts = given();
  parts.seed(name);
  const token = new AccountToken(name, parts.dependencies);
  await token.start();
  return { ...parts, token };
}

it('requests a token of an hour and renews it after 80% of its lifetime', async () => {
  const { token, client, clock } = await started();
  expect(token.current).toBe('deployment-controller-1');
  expect(client.bodies[0]?.spec).toEqual({ audiences: [], expirationSeconds: 3_600 });
  await clock.advance(lifetimeMs * 0.79);
  expect(token.current).toBe('deployment-controller-1');
  await clock.advance(lifetimeMs * 0.02);
  expect(token.current).toBe('deployment-controller-2');
});

it('creates a missing account before it requests the token', async () => {
  const { dependencies, server } = given();
  const token = new AccountToken('job-controller', dependencies);
  await token.start();
  expect(token.current).toBe('job-controller-1');
  expect(server.get(resources.serviceAccounts, 'orch-system/job-controller')).toBeDefined();
});

it('retains the old token while renewal fails, and retries with back-off', async () => {
  const { token, client, clock } = await started();
  client.failure = new ApiError(500, 'InternalError', 'no leader');
  await clock.advance(lifetimeMs * 0.81);
  expect(token.current).toBe('deployment-controller-1');
  client.failure = undefined;
  await clock.advance(30_000);
  expect(token.current).toBe('deployment-controller-2');
});

it('renews a rejected token once, and not a new one', async () => {
  const { token, client, clock } = await started();
  token.rejected();
  await clock.advance(1_000);
  expect(client.bodies).toHaveLength(1);
  await clock.advance(10_000);
  token.rejected();
  token.rejected();
  await clock.advance(1_000);
  expect(token.current).toBe('deployment-controller-2');
  expect(client.bodies).toHaveLength(2);
});

it('renews nothing after the manager has stopped', async () => {
  const { client, clock, controller } = await started();
  controller.abort(new Error('stopped'));
  await clock.advance(2 * lifetimeMs);
  expect(client.bodies).toHaveLength(1);
});

it('rejects when a controller may not have a token', async () => {
  const { client, dependencies, clock, seed } = given();
  seed('x-controller');
  client.failure = new ApiError(403, 'Forbidden', 'tokens are forbidden');
  const start = expect(
    new AccountToken('x-controller', dependencies).start(),
  ).rejects.toMatchObject({ statusCode: 403 });
  for (let attempt = 0; attempt < 20; attempt++) await clock.advance(30_000);
  await start;
});

it('gives each controller the token of its account, on connections without credentials', async () => {
  const { client, dependencies, server, clock } = given();
  const anonymous = new TokenClient(server, clock);
  const clients = new AccountClients(anonymous, dependencies);
  await clients.start(['deployment', 'nodelifecycle', 'noexec-taint']);
  for (const name of ['deployment', 'nodelifecycle', 'noexec-taint']) {
    clients.clientFor(name, { qps: 5, burst: 10 });
  }
  const tokens = anonymous.derivedOptions.map((options) =>
    (options as { token: () => string }).token().replace(/-\d+$/, ''),
  );
  expect(tokens).toEqual(['deployment-controller', 'node-controller', 'node-controller']);
  expect(anonymous.derivedOptions[0]).toMatchObject({ qps: 5, burst: 10 });
  expect(client.derivedOptions).toEqual([]);
  expect(client.bodies).toHaveLength(2);
});

it('has an account for each controller except that of the tokens', () => {
  const names = Object.keys(controllers);
  expect(names.filter((name) => !hasAccount(name))).toEqual(['serviceaccount-token']);
});

it('names the accounts as the system roles do', () => {
  expect(['garbagecollector', 'podgc', 'replicaset', 'serviceaccount'].map(accountNameOf)).toEqual([
    'generic-garbage-collector',
    'pod-garbage-collector',
    'replicaset-controller',
    'service-account-controller',
  ]);
});
