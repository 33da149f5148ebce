import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EncryptionFile } from './encryption-file.js';

describe('EncryptionFile', () => {
  let directory: string;
  let path: string;
  let messages: string[];
  let file: EncryptionFile;
  let plaintexts: (string | undefined)[];

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'orch-encryption-'));
    path = join(directory, 'encryption.yaml');
    messages = [];
    plaintexts = [];
    const note = (...line: unknown[]) =>
      messages.push(`${String(line[1])} ${JSON.stringify(line[0])}`);
    const logger = { info: note, warn: note };
    file = new EncryptionFile({ path, periodMs: 10_000, clock: systemClock, logger });
  });

  afterEach(() => {
    file.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function write(providers: string): void {
    writeFileSync(
      path,
      `kind: EncryptionConfiguration\napiVersion: apiserver.config.orch.io/v1\nresources:\n- resources: [secrets]\n  providers: [${providers}]\n`,
    );
  }

  async function open(): Promise<void> {
    await file.open();
    file.follow(({ resources }) => plaintexts.push(resources.get('core/secrets')?.plaintext));
  }

  const key = `aescbc: { keys: [{ name: a, secret: ${Buffer.alloc(32).toString('base64')} }] }`;

  it('replaces the configuration when the file changes', async () => {
    write('identity: {}');
    await open();
    await file.poll();
    expect(plaintexts).toEqual(['current']);
    write(`{ ${key} }, { identity: {} }`);
    await file.poll();
    expect(plaintexts).toEqual(['current', 'stale']);
    expect(messages).toEqual(['encryption configuration replaced {}']);
  });

  it('stays in use when the file becomes invalid or is missing', async () => {
    write(`{ ${key} }`);
    await open();
    write('rot13: {}');
    await file.poll();
    rmSync(path);
    await file.poll();
    expect(plaintexts).toEqual(['refused']);
    expect(messages).toHaveLength(2);
    expect(messages[0]).toContain('rot13: unknown field');
    write(`{ ${key} }, { identity: {} }`);
    await file.poll();
    expect(plaintexts).toEqual(['refused', 'stale']);
  });

  it('rejects a missing file at the start', async () => {
    await expect(file.open()).rejects.toThrow(`cannot read the encryption configuration ${path}`);
  });
});
