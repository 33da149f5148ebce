import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate, type KeyPairPem, systemClock } from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ReloadedCertificate } from './reloaded-certificate.js';

describe('ReloadedCertificate', () => {
  let directory: string;
  let certificateFile: string;
  let keyFile: string;
  let authority: KeyPairPem;
  let served: KeyPairPem[];
  let messages: string[];
  let certificate: ReloadedCertificate;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-serving-'));
    certificateFile = join(directory, 'tls.crt');
    keyFile = join(directory, 'tls.key');
    authority = await createAuthority('authority', 86_400_000, systemClock);
    served = [];
    messages = [];
    const current = await issued();
    put(current);
    const note = (...line: unknown[]) => messages.push(String(line[1]));
    certificate = new ReloadedCertificate({
      name: 'serving',
      certificateFile,
      keyFile,
      current,
      replace: (pair) => served.push(pair),
      clock: systemClock,
      logger: { info: note, warn: note },
    });
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  function issued(): Promise<KeyPairPem> {
    const request = { commonName: 's', hosts: ['localhost'], usages: ['server'] as const };
    return issueCertificate(authority, { ...request, validMs: 3_600_000 }, systemClock);
  }

  function put({ certificatePem, keyPem }: KeyPairPem): void {
    writeFileSync(certificateFile, certificatePem);
    writeFileSync(keyFile, keyPem);
  }

  it('is not replaced while its files are unchanged', async () => {
    await certificate.poll();
    expect([served, messages]).toEqual([[], []]);
  });

  it('is replaced only when the key matches the certificate', async () => {
    const next = await issued();
    writeFileSync(certificateFile, next.certificatePem);
    await certificate.poll();
    await certificate.poll();
    expect(served).toEqual([]);
    expect(messages).toEqual(['the changed certificate cannot be used']);
    put(next);
    await certificate.poll();
    expect(served).toEqual([next]);
  });

  it('stays in use when a file is missing or is not PEM', async () => {
    writeFileSync(certificateFile, 'no certificate');
    await certificate.poll();
    rmSync(keyFile);
    await certificate.poll();
    expect(served).toEqual([]);
    expect(messages).toHaveLength(2);
  });
});
