/** Admission webhooks on a complete server: their effects, their failures and their connections. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dialect } from '@orch/component';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answer, HookServer, respond } from './testing/hook-server.js';
import { RunningServer } from './testing/running-server.js';

const registration = `/apis/${dialect().apiVersion('admissionregistration', 'v1')}`;
const configMaps = '/api/v1/namespaces/default/configmaps';
const secrets = '/api/v1/namespaces/default/secrets';
const megabyte = 1024 * 1024;

type Kind = 'Mutating' | 'Validating';

const rule = (resource: string, operations = ['CREATE']) => ({
  ...{ apiGroups: [''], apiVersions: ['v1'], operations },
  resources: [resource],
});

class Fixture {
  private readonly registered: string[] = [];
  private count = 0;

  constructor(
    readonly server: RunningServer,
    readonly hooks: HookServer,
  ) {}

  /** Registers a webhook and waits until requests reach it. */
  async register(kind: Kind, path: string, webhook: object = {}): Promise<void> {
    this.count += 1;
    const name = `hook-${this.count}`;
    const collection = `${registration}/${kind.toLowerCase()}webhookconfigurations`;
    await this.server.must('POST', collection, {
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          clientConfig: this.hooks.at(path),
          rules: [rule('configmaps')],
          ...{ sideEffects: 'None', admissionReviewVersions: ['v1'], timeoutSeconds: 1 },
          ...webhook,
        },
        {
          name: 'probe.example.com',
          clientConfig: this.hooks.at(`/probe-${name}`),
          rules: [rule('limitranges')],
          ...{ sideEffects: 'None', admissionReviewVersions: ['v1'] },
        },
      ],
    });
    this.registered.push(`${collection}/${name}`);
    await this.waitUntil(`/probe-${name}`, true);
  }

  /** Removes every webhook and waits until none is called. */
  async clear(): Promise<void> {
    for (const path of this.registered.splice(0)) {
      await this.server.must('DELETE', path);
      await this.waitUntil(`/probe-${path.split('/').at(-1)}`, false);
    }
    this.hooks.answers.clear();
    this.hooks.calls.length = 0;
  }

  callsOf(path: string): HookServer['calls'] {
    return this.hooks.calls.filter((call) => call.path === path);
  }

  create(path: string, name: string, query = '') {
    return this.server.call('POST', `${path}${query}`, { body: { metadata: { name } } });
  }

  private async waitUntil(probe: string, isCalled: boolean): Promise<void> {
    await vi.waitFor(
      async () => {
        this.hooks.calls.length = 0;
        const path = '/api/v1/namespaces/default/limitranges?dryRun=All';
        const body = { metadata: { name: 'probe' }, spec: { limits: [] } };
        await this.server.must('POST', path, body);
        expect(this.callsOf(probe).length > 0).toBe(isCalled);
      },
      { timeout: 10_000, interval: 20 },
    );
  }
}

describe('admission webhooks', () => {
  let fixture: Fixture;

  beforeAll(async () => {
    const hooks = await HookServer.start(['by-name.default.svc']);
    fixture = new Fixture(await RunningServer.start(), hooks);
  }, 30_000);

  afterEach(() => fixture.clear());

  afterAll(async () => {
    await fixture.server.stop();
    fixture.hooks.stop();
  });

  it.each<[string, Answer, string]>([
    ['hangs', () => undefined, '/x?timeout=1s": context deadline exceeded'],
    ['closes the connection', (_review, response) => response.destroy(), '/x?timeout=1s": EOF'],
    [
      'responds with garbage',
      (_review, response) => void response.end('\0garbage'),
      "couldn't get version/kind; json parse error: not JSON",
    ],
    [
      'responds with 10 MB',
      (_review, response) => void response.end(Buffer.alloc(10 * megabyte, ' ')),
      'the response is longer than 4194304 bytes',
    ],
    [
      'sends a response that never ends',
      (_review, response) => void response.write('{'),
      '/x?timeout=1s": context deadline exceeded',
    ],
    [
      'responds about another request',
      (review, response) => respond(review, response, { uid: 'other' }),
      'expected response.uid="',
    ],
    [
      'sends a patch that is none',
      (review, response) =>
        respond(review, response, { patchType: 'JSONPatch', patch: btoa('{"a":1}') }),
      'the patch is not a list of operations',
    ],
    [
      'redirects in a circle',
      (_review, response) => void response.writeHead(307, { location: '/x' }).end(),
      'stopped after 10 redirects',
    ],
    [
      'responds with an error',
      (_review, response) => void response.writeHead(500).end('broken'),
      'an error on the server ("broken") has prevented the request from succeeding',
    ],
  ])('end the request of a webhook that %s', async (_what, answer, message) => {
    fixture.hooks.answers.set('/x', answer);
    await fixture.register('Mutating', '/x');
    const pending = fixture.create(configMaps, 'refused', '?dryRun=All');
    // Other requests are served meanwhile.
    expect((await fixture.create(secrets, 'other', '?dryRun=All')).code).toBe(201);
    const { code, body } = await pending;
    expect([code, body.reason]).toEqual([500, 'InternalError']);
    expect(body.message).toContain(message);
  });

  it('admit the request if the failed webhook ignores failures, within its deadline', async () => {
    fixture.hooks.answers.set('/x', () => undefined);
    await fixture.register('Validating', '/x', { failurePolicy: 'Ignore' });
    expect((await fixture.create(configMaps, 'ignored', '?dryRun=All')).code).toBe(201);
    const short = await fixture.create(configMaps, 'short', '?dryRun=All&timeout=200ms');
    expect([short.code, short.headers['content-type']]).toEqual([504, 'text/plain; charset=utf-8']);
  });

  it('end a webhook that calls back into the requests that it reviews', async () => {
    let depth = 0;
    fixture.hooks.answers.set('/x', async (review, response) => {
      depth += 1;
      const { code } = await fixture.create(configMaps, `depth-${depth}`, '?dryRun=All');
      respond(review, response, { allowed: code === 201 });
    });
    await fixture.register('Validating', '/x');
    const { code, body } = await fixture.create(configMaps, 'first', '?dryRun=All');
    expect([code, body.reason]).toEqual([500, 'InternalError']);
  });

  it('end two webhooks that review each other', async () => {
    let depth = 0;
    const creating =
      (path: string): Answer =>
      async (review, response) => {
        depth += 1;
        const { code } = await fixture.create(path, `depth-${depth}`, '?dryRun=All');
        respond(review, response, { allowed: code === 201 });
      };
    fixture.hooks.answers.set('/x', creating(secrets));
    fixture.hooks.answers.set('/y', creating(configMaps));
    await fixture.register('Validating', '/x');
    await fixture.register('Mutating', '/y', { rules: [rule('secrets')] });
    const { code, body } = await fixture.create(configMaps, 'first', '?dryRun=All');
    expect([code, body.reason]).toEqual([500, 'InternalError']);
    expect(depth).toBeGreaterThan(2);
    expect((await fixture.create('/api/v1/namespaces', 'other', '?dryRun=All')).code).toBe(201);
  });

  it('keep and share connections', async () => {
    await fixture.register('Validating', '/x');
    const before = fixture.hooks.connectionCount;
    for (let index = 0; index < 20; index += 1) {
      expect((await fixture.create(configMaps, `kept-${index}`, '?dryRun=All')).code).toBe(201);
    }
    expect(fixture.callsOf('/x')).toHaveLength(20);
    expect(fixture.hooks.connectionCount - before).toBeLessThanOrEqual(1);
  });

  it('run at the same time if they validate', async () => {
    const waiting: (() => void)[] = [];
    // Each responds when both are called.
    const answer: Answer = (review, response) => {
      waiting.push(() => respond(review, response));
      if (waiting.length === 2) for (const resume of waiting.splice(0)) resume();
    };
    fixture.hooks.answers.set('/x', answer);
    fixture.hooks.answers.set('/y', answer);
    await fixture.register('Validating', '/x', { timeoutSeconds: 10 });
    await fixture.register('Validating', '/y', { timeoutSeconds: 10 });
    expect((await fixture.create(configMaps, 'both', '?dryRun=All')).code).toBe(201);
  });

  it('are found behind a service', async () => {
    const { port } = fixture.hooks;
    await fixture.server.must('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 'by-name' },
      spec: { type: 'ExternalName', externalName: '127.0.0.1' },
    });
    const service = { namespace: 'default', name: 'by-name', path: '/x', port };
    const clientConfig = { service, caBundle: fixture.hooks.caBundle };
    await fixture.register('Validating', '/x', { clientConfig });
    expect((await fixture.create(configMaps, 'by-service', '?dryRun=All')).code).toBe(201);
    const [call] = fixture.callsOf('/x');
    expect(call?.request.headers.host).toBe(`by-name.default.svc:${port}`);
  });

  it('report a service that does not exist', async () => {
    const service = { namespace: 'default', name: 'absent' };
    await fixture.register('Validating', '/x', { clientConfig: { service } });
    const { body } = await fixture.create(configMaps, 'absent', '?dryRun=All');
    expect(body.message).toContain(
      'Post "https://absent.default.svc:443/?timeout=1s": service "absent" not found',
    );
  });

  it('see evictions and bindings as actions of the pod', async () => {
    const kinds: unknown[] = [];
    fixture.hooks.answers.set('/x', (review, response) => {
      const { kind, operation, subResource } = review.request as unknown as Record<string, unknown>;
      kinds.push([kind, operation, subResource]);
      respond(review, response);
    });
    const rules = [rule('pods/*', ['*']), rule('pods', ['DELETE', 'UPDATE'])];
    await fixture.register('Validating', '/x', { rules });
    const pods = '/api/v1/namespaces/default/pods';
    await fixture.server.must('POST', '/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'default' },
    });
    await fixture.server.must('POST', pods, {
      metadata: { name: 'p' },
      spec: {
        containers: [{ name: 'a', image: 'i' }],
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 0,
      },
    });
    await fixture.server.must('POST', `${pods}/p/binding`, {
      metadata: { name: 'p' },
      target: { kind: 'Node', name: 'n' },
    });
    await fixture.server.must('POST', `${pods}/p/eviction`, { metadata: { name: 'p' } });
    expect(kinds).toEqual([
      [{ group: '', version: 'v1', kind: 'Pod' }, 'CREATE', undefined],
      [{ group: '', version: 'v1', kind: 'Binding' }, 'CREATE', 'binding'],
      [{ group: 'policy', version: 'v1beta1', kind: 'Eviction' }, 'CREATE', 'eviction'],
    ]);
  });

  it('annotate the audit event', async () => {
    // The server of this spec has no audit log: the annotations must not be required.
    fixture.hooks.answers.set('/x', (review, response) =>
      respond(review, response, { auditAnnotations: { checked: 'yes' } }),
    );
    await fixture.register('Mutating', '/x');
    expect((await fixture.create(configMaps, 'annotated', '?dryRun=All')).code).toBe(201);
  });
});

describe('a server with credentials for webhooks', () => {
  let directory: string;
  let hooks: HookServer;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-hook-credentials-'));
    hooks = await HookServer.start();
  });

  afterAll(() => {
    hooks.stop();
    rmSync(directory, { recursive: true });
  });

  it.each([
    ['v1', 'WebhookAdmissionConfiguration'],
    ['v1alpha1', 'WebhookAdmission'],
  ])(
    'sends them to the host that they are for: %s',
    async (version, kind) => {
      const kubeconfig = join(directory, 'kubeconfig');
      const users = [
        { name: `127.0.0.1:${hooks.port}`, user: { token: 'for-the-hook' } },
        { name: '*', user: { token: 'for-others' } },
      ];
      writeFileSync(kubeconfig, JSON.stringify({ apiVersion: 'v1', kind: 'Config', users }));
      const file = join(directory, 'admission.yaml');
      const plugin = {
        name: 'ValidatingAdmissionWebhook',
        configuration: {
          ...{ apiVersion: dialect().apiVersion('apiserver.config', version), kind },
          kubeConfigFile: 'kubeconfig',
        },
      };
      const configuration = {
        apiVersion: dialect().apiVersion('apiserver.config', 'v1'),
        ...{ kind: 'AdmissionConfiguration', plugins: [plugin] },
      };
      writeFileSync(file, JSON.stringify(configuration));
      const server = await RunningServer.start([`--admission-control-config-file=${file}`]);
      try {
        const fixture = new Fixture(server, hooks);
        await fixture.register('Validating', '/x');
        await fixture.register('Mutating', '/y');
        expect((await fixture.create(configMaps, 'a')).code).toBe(201);
        const tokenAt = (path: string) =>
          fixture.callsOf(path).map(({ request }) => request.headers.authorization);
        expect([tokenAt('/x'), tokenAt('/y')]).toEqual([['Bearer for-the-hook'], [undefined]]);
        await fixture.clear();
      } finally {
        await server.stop();
      }
    },
    60_000,
  );
});
