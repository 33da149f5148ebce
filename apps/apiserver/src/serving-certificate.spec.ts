import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createAuthority,
  issueCertificate,
  type KeyPairPem,
  type Logger,
  systemClock,
} from '@orch/component';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServingCertificate } from './serving-certificate.js';

describe('ServingCertificate', () => {
  let directory: string;
  let certificateFile: string;
  let keyFile: string;
  let authority: KeyPairPem;
  let served: KeyPairPem[];
  let said: string[];
  let certificate: ServingCertificate;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-serving-'));
    certificateFile = join(directory, 'tls.crt');
    keyFile = join(directory, 'tls.key');
    authority = await createAuthority('authority', 86_400_000, systemClock);
    served = [];
    said = [];
    const current = await issued();
    put(current);
    const note = (_fields: unknown, text: string) => said.push(text);
    certificate = new ServingCertificate({
      certificateFile,
      keyFile,
      current,
      replace: (pair) => served.push(pair),
      clock: systemClock,
      logger: { info: note, warn: note } as unknown as Logger,
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

  it('is left alone while its files are the same', async () => {
    await certificate.poll();
    expect([served, said]).toEqual([[], []]);
  });

  it('is replaced once both files belong together, and not before', async () => {
    const next = await issued();
    writeFileSync(certificateFile, next.certificatePem);
    await certificate.poll();
    await certificate.poll();
    expect(served).toEqual([]);
    expect(said).toEqual(['the changed serving certificate cannot be used']);
    put(next);
    await certificate.poll();
    expect(served).toEqual([next]);
  });

  it('stays in use when a file is gone or is not PEM', async () => {
    writeFileSync(certificateFile, 'no certificate');
    await certificate.poll();
    rmSync(keyFile);
    await certificate.poll();
    expect(served).toEqual([]);
    expect(said).toHaveLength(2);
  });
});
