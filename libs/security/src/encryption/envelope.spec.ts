import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metrics, systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kmsCallsMax } from '../limits.js';
import { DecryptionError } from './cipher.js';
import { EncryptionMetrics } from './encryption-metrics.js';
import { EnvelopeCipher } from './envelope.js';
import { KmsClient } from './kms-client.js';
import { KmsError } from './kms-error.js';
import { ResourceEncryption } from './resource-encryption.js';
import { KmsPlugin } from './testing/kms-plugin.js';

const context = Buffer.from('core/secrets/ns/a');
const payload = Buffer.from('a secret value');

describe('EnvelopeCipher with a service on a unix socket', () => {
  let directory: string;
  let plugin: KmsPlugin;
  let clients: KmsClient[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-kms-'));
    plugin = new KmsPlugin(join(directory, 'kms.sock'));
    clients = [];
    await plugin.start();
  });

  afterEach(() => {
    for (const client of clients) client.close();
    plugin.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function cipher(cachedKeysMax = 10, timeoutMs = 5_000): EnvelopeCipher {
    const { endpoint } = plugin;
    const client = new KmsClient({ providerName: 'k', endpoint, timeoutMs, clock: systemClock });
    clients.push(client);
    return new EnvelopeCipher(client, cachedKeysMax);
  }

  it('decrypts from the cache, and by one call without it', async () => {
    const writer = cipher();
    const encrypted = await writer.encrypt(payload, context);
    expect(encrypted.includes(payload)).toBe(false);
    expect(writer.decrypt(encrypted, context)).toEqual(payload);
    expect(plugin.calls).toEqual({ Version: 1, Encrypt: 1, Decrypt: 0 });
    const reader = cipher();
    expect(await reader.decrypt(encrypted, context)).toEqual(payload);
    expect(reader.decrypt(encrypted, context)).toEqual(payload);
    expect(plugin.calls.Decrypt).toBe(1);
  });

  it('is measured with its data keys', async () => {
    const metrics = new Metrics();
    const observer = new EncryptionMetrics(metrics, systemClock);
    const { endpoint } = plugin;
    const options = { providerName: 'k', endpoint, timeoutMs: 5_000, clock: systemClock };
    const keyed = (cachedKeysMax: number) => {
      const client = new KmsClient(options);
      clients.push(client);
      const service = new EnvelopeCipher(client, cachedKeysMax, observer);
      return new ResourceEncryption([{ kind: 'kms', name: 'k', cipher: service }], observer);
    };
    const encrypted = await keyed(10).encrypt(payload, context);
    const reader = keyed(4);
    await reader.decrypt(encrypted!, context);
    await reader.decrypt(encrypted!, context);
    plugin.stop();
    await expect(keyed(1).decrypt(encrypted!, context)).rejects.toThrow(KmsError);
    const text = await metrics.render();
    const operations = 'apiserver_storage_transformation_operations_total';
    const prefix = 'transformer_prefix="orch:enc:kms:v1:k:"';
    for (const line of [
      `${operations}{transformation_type="to_storage",${prefix},status="OK"} 1`,
      `${operations}{transformation_type="from_storage",${prefix},status="OK"} 2`,
      `${operations}{transformation_type="from_storage",${prefix},status="DeadlineExceeded"} 1`,
      'apiserver_storage_envelope_transformation_cache_misses_total 2',
      'apiserver_storage_data_key_generation_duration_seconds_count 1',
      'apiserver_storage_data_key_generation_failures_total 0',
      'apiserver_envelope_encryption_dek_cache_fill_percent 0.25',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  }, 20_000);

  it('uses another data key for each payload', async () => {
    const writer = cipher();
    const encrypted = [
      await writer.encrypt(payload, context),
      await writer.encrypt(payload, context),
    ];
    const keys = encrypted.map((bytes) =>
      bytes.subarray(2, 2 + bytes.readUInt16BE()).toString('hex'),
    );
    expect(keys[0]).not.toBe(keys[1]);
  });

  it('evicts the least recently used data keys above the size of the cache', async () => {
    const writer = cipher(2);
    const encrypted: Buffer[] = [];
    for (let count = 0; count < 3; count += 1) {
      encrypted.push(await writer.encrypt(payload, context));
    }
    expect(writer.decrypt(encrypted[2]!, context)).toEqual(payload);
    expect(writer.decrypt(encrypted[1]!, context)).toEqual(payload);
    expect(plugin.calls.Decrypt).toBe(0);
    expect(await writer.decrypt(encrypted[0]!, context)).toEqual(payload);
    expect(plugin.calls.Decrypt).toBe(1);
  });

  it('calls the service for every payload when the cache is disabled', async () => {
    const writer = cipher(-1);
    const encrypted = await writer.encrypt(payload, context);
    await writer.decrypt(encrypted, context);
    await writer.decrypt(encrypted, context);
    expect(plugin.calls.Decrypt).toBe(2);
  });

  it('shares one call among readers of the same data key', async () => {
    const encrypted = await cipher().encrypt(payload, context);
    const reader = cipher();
    await Promise.all(Array.from({ length: 100 }, () => reader.decrypt(encrypted, context)));
    expect(plugin.calls.Decrypt).toBe(1);
  });

  it('limits the calls in flight and completes the waiting ones', async () => {
    const writer = cipher(1_000);
    await writer.encrypt(payload, context);
    let open = () => {};
    plugin.gate = new Promise((resolve) => {
      open = resolve;
    });
    const before = plugin.calls.Encrypt;
    const writes = Array.from({ length: 3 * kmsCallsMax }, () => writer.encrypt(payload, context));
    await expect.poll(() => plugin.calls.Encrypt - before).toBe(kmsCallsMax);
    open();
    await Promise.all(writes);
    expect(plugin.calls.Encrypt - before).toBe(3 * kmsCallsMax);
  });

  it('rejects a changed ciphertext, another object and another master key', async () => {
    const encrypted = await cipher().encrypt(payload, context);
    const changed = Buffer.from(encrypted);
    changed[changed.length - 1]! ^= 1;
    const reader = cipher();
    await expect(reader.decrypt(changed, context)).rejects.toThrow(DecryptionError);
    expect(() => reader.decrypt(encrypted, Buffer.from('core/secrets/ns/b'))).toThrow(
      DecryptionError,
    );
    plugin.stop();
    plugin = new KmsPlugin(join(directory, 'other.sock'), 0x77);
    await plugin.start();
    await expect(cipher().decrypt(encrypted, context)).rejects.toThrow(DecryptionError);
  });

  it('rejects with the error of the service, and with that of another version', async () => {
    plugin.failure = 'the key is disabled';
    await expect(cipher().encrypt(payload, context)).rejects.toThrow(
      'KMS provider k: the key is disabled',
    );
    plugin.failure = undefined;
    plugin.version = 'v2';
    await expect(cipher().encrypt(payload, context)).rejects.toThrow('only v1beta1 is supported');
  });

  it('rejects within the timeout when the service does not run, and recovers when it does', async () => {
    plugin.stop();
    const writer = cipher(10, 500);
    await expect(writer.encrypt(payload, context)).rejects.toThrow(KmsError);
    await plugin.start();
    await expect
      .poll(
        () =>
          writer.encrypt(payload, context).then(
            () => true,
            () => false,
          ),
        {
          timeout: 10_000,
        },
      )
      .toBe(true);
  });
});
