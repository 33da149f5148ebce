/**
 * Encryption by a key management service in a process of its own: outages of the service before and
 * after the start, slowness, the cache of data keys, rotation between two services, health checks.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KmsPluginProcess } from './testing/kms-plugin-process.js';
import { RunningServer } from './testing/running-server.js';

const secrets = '/api/v1/namespaces/default/secrets';
const configMaps = '/api/v1/namespaces/default/configmaps';
const parent = mkdtempSync(join(tmpdir(), 'orch-kms-'));
const recoveryTimeoutMs = 30_000;

interface Kms {
  readonly name: string;
  readonly service: KmsPluginProcess;
  readonly cachesize?: number;
  readonly timeout?: string;
}

describe('a key management service', () => {
  let directory: string;
  let dataDir: string;
  let server: RunningServer | undefined;
  let services: KmsPluginProcess[];

  beforeEach(() => {
    directory = mkdtempSync(join(parent, 'server-'));
    dataDir = join(directory, 'data');
    services = [];
  });

  afterEach(async () => {
    await stop();
    await Promise.all(services.map((service) => service.kill()));
  });

  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  function define(name: string): KmsPluginProcess {
    const key = randomBytes(32).toString('hex');
    const service = new KmsPluginProcess(join(directory, `${name}.sock`), key);
    services.push(service);
    return service;
  }

  async function started(name: string): Promise<KmsPluginProcess> {
    const service = define(name);
    await service.start();
    return service;
  }

  /** Restarts the server with these services for Secrets, the first of which encrypts. */
  async function restart(...providers: readonly Kms[]): Promise<RunningServer> {
    await stop();
    const file = join(directory, 'encryption.json');
    const list = providers.map(({ name, service, cachesize, timeout = '3s' }) => ({
      kms: { name, endpoint: service.endpoint, cachesize, timeout },
    }));
    const configuration = {
      kind: 'EncryptionConfiguration',
      apiVersion: 'apiserver.config.orch.io/v1',
      resources: [{ resources: ['secrets'], providers: list }],
    };
    writeFileSync(file, JSON.stringify(configuration));
    server = await RunningServer.start([`--encryption-provider-config=${file}`], { dataDir });
    return server;
  }

  async function stop(): Promise<void> {
    await server?.stop();
    server = undefined;
  }

  const body = (name: string, password: string) => ({
    metadata: { name },
    stringData: { password },
  });

  /** The code of the response; 201 for a stored Secret. */
  async function write(running: RunningServer, name: string): Promise<number> {
    return (await running.call('POST', secrets, { body: body(name, 'p') })).code;
  }

  const health = (running: RunningServer, index = 0, endpoint = 'healthz') =>
    running.call('GET', `/${endpoint}/kms-provider-${index}`);

  async function untilHealthy(running: RunningServer): Promise<void> {
    await expect
      .poll(async () => (await health(running)).code, { timeout: recoveryTimeoutMs })
      .toBe(200);
  }

  function filesWith(text: string): string[] {
    return readdirSync(dataDir, { recursive: true })
      .map((name) => join(dataDir, String(name)))
      .filter((path) => statSync(path).isFile())
      .filter((path) => readFileSync(path).includes(text));
  }

  it('encrypts stored secrets', async () => {
    const running = await restart({ name: 'one', service: await started('one') });
    const password = randomBytes(16).toString('hex');
    await running.must('POST', secrets, body('a', password));
    const { data } = await running.must('GET', `${secrets}/a`);
    expect(Buffer.from(data.password, 'base64').toString()).toBe(password);
    expect((await health(running)).text).toBe('ok');
    const { text } = await running.call('GET', '/readyz?verbose');
    expect(text).toContain('[+]etcd ok\n[+]kms-provider-0 ok\n');
    await stop();
    expect(filesWith('orch:enc:kms:v1:one:')).not.toEqual([]);
    expect(filesWith(password)).toEqual([]);
    expect(filesWith(Buffer.from(password).toString('base64'))).toEqual([]);
  });

  it('may be down when the server starts, which serves other resources meanwhile', async () => {
    const service = define('late');
    const running = await restart({ name: 'late', service });
    await running.must('POST', configMaps, { metadata: { name: 'c' } });
    const refused = await running.call('POST', secrets, { body: body('a', 'hidden-word') });
    expect([refused.code, refused.body.kind]).toEqual([503, 'Status']);
    expect(refused.body.message).toContain('KMS provider late');
    expect(refused.text).not.toContain('hidden-word');
    for (const endpoint of ['healthz', 'readyz']) {
      const failed = await health(running, 0, endpoint);
      expect([failed.code, failed.text]).toEqual([500, expect.stringContaining('KMS provider')]);
    }
    const ready = await running.call('GET', '/readyz');
    expect([ready.code, ready.text]).toEqual([
      500,
      expect.stringContaining('[-]kms-provider-0 failed: reason withheld\n'),
    ]);
    // A restart of the server would not help.
    expect((await running.call('GET', '/livez')).code).toBe(200);

    await service.start();
    await untilHealthy(running);
    expect(await write(running, 'a')).toBe(201);
  });

  it('may die and return', async () => {
    const service = await started('mortal');
    const kms = { name: 'mortal', service };
    let running = await restart(kms);
    expect(await write(running, 'a')).toBe(201);
    const read = await running.must('GET', `${secrets}/a`);
    await service.kill();
    // Decrypted entries are in memory.
    expect(await running.must('GET', `${secrets}/a`)).toEqual(read);
    expect(await write(running, 'b')).toBe(503);
    running = await restart(kms);
    expect((await running.call('GET', `${secrets}/a`)).code).toBe(503);
    expect((await running.call('GET', configMaps)).code).toBe(200);

    await service.start();
    await untilHealthy(running);
    expect(await running.must('GET', `${secrets}/a`)).toEqual(read);
    expect(await write(running, 'b')).toBe(201);
  });

  it('fails requests after the timeout when it is slow', async () => {
    const service = await started('slow');
    const running = await restart({ name: 'slow', service, timeout: '2s' });
    await service.delay(recoveryTimeoutMs);
    const { code, body: status } = await running.call('POST', secrets, { body: body('a', 'p') });
    expect([code, status.message]).toEqual([503, expect.stringMatching(/deadline/i)]);
    expect((await health(running)).code).toBe(500);
    await service.delay(0);
    await untilHealthy(running);
    expect(await write(running, 'a')).toBe(201);
  });

  it.each([
    ['from the cache', 10, 0],
    ['by a call each without a cache', -1, 3],
  ])('decrypts new data keys %s', async (_how, cachesize, decryptionCount) => {
    const service = await started('cached');
    const running = await restart({ name: 'cached', service, cachesize });
    // Controllers of the server may store Secrets at its start.
    await running.must('GET', secrets);
    const before = await service.calls();
    for (const name of ['a', 'b', 'c']) expect(await write(running, name)).toBe(201);
    const after = await service.calls();
    expect(after.Encrypt - before.Encrypt).toBe(3);
    expect(after.Decrypt - before.Decrypt).toBe(decryptionCount);
  });

  it('calls the service once for each object after a restart, then no more', async () => {
    const service = await started('counted');
    let running = await restart({ name: 'counted', service });
    for (const name of ['a', 'b', 'c']) expect(await write(running, name)).toBe(201);
    const { items } = await running.must('GET', secrets);
    await stop();
    const before = await service.calls();
    running = await restart({ name: 'counted', service });
    for (let round = 0; round < 3; round += 1) await running.must('GET', secrets);
    const after = await service.calls();
    expect(after.Decrypt - before.Decrypt).toBe(items.length);
  });

  it('is replaced by another one by their order', async () => {
    const old = { name: 'old', service: await started('old') };
    const next = { name: 'next', service: await started('next') };
    let running = await restart(old, next);
    expect(await write(running, 'a')).toBe(201);
    const read = await running.must('GET', `${secrets}/a`);
    running = await restart(next, old);
    expect((await running.must('GET', `${secrets}/a`)).data).toEqual(read.data);
    expect(await write(running, 'b')).toBe(201);
    const report = await running.must('POST', '/cluster/reencrypt');
    expect([report.writtenCount >= 1, report.failedCount]).toEqual([true, 0]);
    await old.service.kill();
    expect((await health(running, 0)).code).toBe(200);

    running = await restart(next);
    const { items } = await running.must('GET', secrets);
    const names = items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(names).toEqual(expect.arrayContaining(['a', 'b']));
    expect((await running.call('GET', '/healthz/kms-provider-1')).code).toBe(404);
  });
});
