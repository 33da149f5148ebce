/** Encryption at rest: the content of the disk and of backups, key rotation, and missing keys. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunningServer } from './testing/running-server.js';

const secrets = '/api/v1/namespaces/default/secrets';
const configMaps = '/api/v1/namespaces/default/configmaps';
const parent = mkdtempSync(join(tmpdir(), 'orch-encryption-'));

interface Provider {
  readonly kind: 'aescbc' | 'aesgcm' | 'secretbox';
  readonly name: string;
}

const keys = new Map<string, string>();

function keyOf({ name }: Provider): string {
  const secret = keys.get(name) ?? randomBytes(32).toString('base64');
  keys.set(name, secret);
  return secret;
}

const aescbc: Provider = { kind: 'aescbc', name: 'one' };
const aesgcm: Provider = { kind: 'aesgcm', name: 'two' };
const secretbox: Provider = { kind: 'secretbox', name: 'three' };

describe('encryption at rest', () => {
  let directory: string;
  let dataDir: string;
  let file: string;
  let server: RunningServer | undefined;

  beforeEach(() => {
    directory = mkdtempSync(join(parent, 'server-'));
    dataDir = join(directory, 'data');
    file = join(directory, 'encryption.yaml');
  });

  afterEach(() => stop());

  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  /** `identity`: the last provider reads and writes plaintext. */
  function configure(...providers: (Provider | 'identity')[]): void {
    const list = providers.map((provider) =>
      provider === 'identity'
        ? { identity: {} }
        : { [provider.kind]: { keys: [{ name: provider.name, secret: keyOf(provider) }] } },
    );
    const configuration = {
      kind: 'EncryptionConfiguration',
      apiVersion: 'apiserver.config.orch.io/v1',
      resources: [{ resources: ['secrets'], providers: list }],
    };
    writeFileSync(file, JSON.stringify(configuration));
  }

  async function start(...flags: string[]): Promise<RunningServer> {
    const encryption = `--encryption-provider-config=${file}`;
    server = await RunningServer.start([encryption, ...flags], { dataDir });
    return server;
  }

  async function restart(...providers: (Provider | 'identity')[]): Promise<RunningServer> {
    await stop();
    configure(...providers);
    return start();
  }

  async function stop(): Promise<void> {
    await server?.stop();
    server = undefined;
  }

  /** Names of the files that contain the text. */
  function filesWith(text: string): string[] {
    return readdirSync(dataDir, { recursive: true })
      .map((name) => join(dataDir, String(name)))
      .filter((path) => statSync(path).isFile())
      .filter((path) => readFileSync(path).includes(text));
  }

  const body = (name: string, marker: string) => ({
    metadata: { name, labels: { marker: `l-${marker}` } },
    stringData: { password: marker },
  });

  /** Texts that a stored Secret with the marker would contain. */
  const traces = (marker: string) => [marker, Buffer.from(marker).toString('base64').slice(0, 40)];

  it.each([aescbc, aesgcm, secretbox])(
    'leaves no plaintext on disk and in backups with $kind',
    async (provider) => {
      configure(provider, 'identity');
      const running = await start();
      const marker = randomBytes(16).toString('hex');
      const updated = randomBytes(16).toString('hex');
      const deleted = randomBytes(16).toString('hex');
      const plain = randomBytes(16).toString('hex');
      await running.must('POST', configMaps, { metadata: { name: 'c' }, data: { plain } });
      await running.must('POST', secrets, body('a', marker));
      await running.must('PUT', `${secrets}/a`, body('a', updated));
      await running.must('POST', secrets, body('b', deleted));
      await running.must('DELETE', `${secrets}/b`);
      const read = await running.must('GET', `${secrets}/a`);
      expect(Buffer.from(read.data.password, 'base64').toString()).toBe(updated);
      const snapshot = await buffer(await running.open('GET', '/cluster/snapshot'));
      await stop();

      // The search finds objects that are not encrypted.
      expect(filesWith(plain)).not.toEqual([]);
      expect(snapshot.includes(plain)).toBe(true);
      for (const text of [marker, updated, deleted].flatMap(traces)) {
        expect(filesWith(text)).toEqual([]);
        expect(snapshot.includes(text)).toBe(false);
      }
      expect(filesWith(`orch:enc:${provider.kind}:v1:${provider.name}:`)).not.toEqual([]);

      const again = await start();
      expect(await again.must('GET', `${secrets}/a`)).toEqual(read);
    },
    60_000,
  );

  it('shows clients the same objects, versions and events as without', async () => {
    configure(aesgcm);
    const running = await start();
    const created = await running.must('POST', secrets, body('a', 'first'));
    const unchanged = await running.must('PUT', `${secrets}/a`, created);
    expect(unchanged).toEqual(created);
    const updated = await running.must('PUT', `${secrets}/a`, {
      ...created,
      type: 'Opaque',
      data: {},
    });
    const list = await running.must('GET', secrets);
    expect(
      list.items.map((item: object) => ({ ...item, kind: 'Secret', apiVersion: 'v1' })),
    ).toEqual([updated]);
    await running.must('DELETE', `${secrets}/a`);
    const since = created.metadata.resourceVersion;
    const watched = await running.call(
      'GET',
      `${secrets}?watch=1&timeoutSeconds=1&resourceVersion=${since}`,
    );
    const events = watched.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
    expect(events[0].object).toEqual(updated);
    expect(Number(events[1].object.metadata.resourceVersion)).toBeGreaterThan(
      Number(updated.metadata.resourceVersion),
    );
    expect({ ...events[1].object.metadata, resourceVersion: '' }).toEqual({
      ...updated.metadata,
      resourceVersion: '',
    });
    const exact = await running.must(
      'GET',
      `${secrets}?resourceVersion=${since}&resourceVersionMatch=Exact&limit=10`,
    );
    expect(exact.items[0].data).toEqual(created.data);
  }, 60_000);

  it('rotates keys by order, and reencrypts what older keys wrote', async () => {
    configure('identity');
    let running = await start();
    await running.must('POST', secrets, body('plain', 'p'));
    running = await restart(aescbc, 'identity');
    await running.must('POST', secrets, body('old', 'o'));
    const before = await running.must('GET', `${secrets}/old`);
    running = await restart(aesgcm, aescbc, 'identity');
    await running.must('POST', secrets, body('new', 'n'));
    const current = await running.must('GET', `${secrets}/new`);
    expect(await running.must('GET', `${secrets}/old`)).toEqual(before);

    const first = await running.must('POST', '/cluster/reencrypt');
    // Among them are the tokens of service accounts.
    expect(first.writtenCount).toBeGreaterThanOrEqual(2);
    expect(first.checkedCount).toBeGreaterThan(first.writtenCount);
    expect(first.failedCount).toBe(0);
    const second = await running.must('POST', '/cluster/reencrypt');
    expect(second).toEqual({ ...first, writtenCount: 0 });
    const after = await running.must('GET', `${secrets}/old`);
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    expect({ ...after, metadata: { ...after.metadata, resourceVersion: '' } }).toEqual({
      ...before,
      metadata: { ...before.metadata, resourceVersion: '' },
    });
    expect(await running.must('GET', `${secrets}/new`)).toEqual(current);

    running = await restart(aesgcm);
    const list = await running.must('GET', secrets);
    const names = list.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    expect(names).toEqual(expect.arrayContaining(['new', 'old', 'plain']));
  }, 60_000);

  it('writes an object again on an update that changes nothing but its key', async () => {
    configure(aescbc);
    let running = await start();
    await running.must('POST', secrets, body('a', 'o'));
    running = await restart(aesgcm, aescbc);
    const read = await running.must('GET', `${secrets}/a`);
    const written = await running.must('PUT', `${secrets}/a`, read);
    expect(written.metadata.resourceVersion).not.toBe(read.metadata.resourceVersion);
    const again = await running.must('PUT', `${secrets}/a`, written);
    expect(again.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  }, 60_000);

  it('reports an object whose key is missing, and serves the others', async () => {
    configure(aescbc);
    let running = await start();
    await running.must('POST', secrets, body('lost', 'o'));
    await running.must('POST', configMaps, { metadata: { name: 'c' } });
    running = await restart(aesgcm);
    await running.must('POST', secrets, body('found', 'n'));
    await running.must('GET', `${secrets}/found`);
    await running.must('GET', `${configMaps}/c`);
    const message =
      'Internal error occurred: unable to transform key "core/secrets/default/lost": no matching prefix found: it is encrypted, and no configured provider reads it';
    for (const path of [`${secrets}/lost`, secrets, '/api/v1/secrets']) {
      const { code, body: status } = await running.call('GET', path);
      expect([code, status.kind, status.reason]).toEqual([500, 'Status', 'InternalError']);
      expect(status.message).toContain('unable to transform key "core/secrets/default/');
    }
    const update = await running.call('PUT', `${secrets}/lost`, { body: body('lost', 'x') });
    expect([update.code, update.body.message]).toEqual([500, message]);
    const report = await running.must('POST', '/cluster/reencrypt');
    expect(report.failures.join()).toContain('core/secrets/default/lost');
    expect(report.failedCount).toBeGreaterThanOrEqual(1);

    running = await restart(aesgcm, aescbc);
    await running.must('GET', `${secrets}/lost`);
  }, 60_000);

  it('is measured by provider and result', async () => {
    configure(aescbc);
    let running = await start();
    await running.must('POST', secrets, body('a', 'first'));
    running = await restart(aesgcm, aescbc);
    await running.must('POST', secrets, body('b', 'second'));
    await running.must('GET', secrets);
    const count = async (type: string, prefix: string, status: string) => {
      const name = 'apiserver_storage_transformation_operations_total';
      const labels = `transformation_type="${type}",transformer_prefix="${prefix}",status="${status}"`;
      const { text } = await running.call('GET', '/metrics');
      const line = text.split('\n').find((each) => each.startsWith(`${name}{${labels}}`));
      return Number(line?.split(' ').at(-1) ?? 0);
    };
    expect(await count('to_storage', 'orch:enc:aesgcm:v1:', 'OK')).toBeGreaterThanOrEqual(1);
    expect(await count('to_storage', 'orch:enc:aescbc:v1:', 'OK')).toBe(0);
    expect(await count('from_storage', 'orch:enc:aescbc:v1:', 'OK')).toBeGreaterThanOrEqual(1);
    running = await restart(aesgcm);
    expect((await running.call('GET', `${secrets}/a`)).code).toBe(500);
    expect(await count('from_storage', 'unknown', 'Unknown')).toBeGreaterThanOrEqual(1);
  }, 60_000);

  it('refuses to read ciphertext without a configuration', async () => {
    configure(aescbc);
    const running = await start();
    await running.must('POST', secrets, body('a', 'o'));
    await stop();
    server = await RunningServer.start([], { dataDir });
    const { code, body: status } = await server.call('GET', `${secrets}/a`);
    expect([code, status.reason]).toEqual([500, 'InternalError']);
    const reencryption = await server.call('POST', '/cluster/reencrypt');
    expect(reencryption.body.message).toContain('--encryption-provider-config');
  }, 60_000);

  it('does not start with an invalid file, and writes nothing', async () => {
    writeFileSync(file, '{}');
    await expect(start()).rejects.toThrow(`encryption configuration ${file}: kind, apiVersion:`);
    expect(readdirSync(directory)).toEqual(['encryption.yaml']);
  });
});
