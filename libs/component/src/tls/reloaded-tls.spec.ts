import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../clock.js';
import type { KeyPairPem } from './certificate-request.js';
import { createAuthority, issueCertificate } from './pki.js';
import { ReloadedTls, type TlsMaterial } from './reloaded-tls.js';

describe('ReloadedTls', () => {
  let directory: string;
  let certificateFile: string;
  let keyFile: string;
  let authority: KeyPairPem;
  let clientAuthoritiesFile: string;
  let served: TlsMaterial[];
  let messages: string[];
  let certificate: ReloadedTls;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'orch-serving-'));
    certificateFile = join(directory, 'tls.crt');
    keyFile = join(directory, 'tls.key');
    clientAuthoritiesFile = join(directory, 'ca.crt');
    authority = await createAuthority('authority', 86_400_000, systemClock);
    served = [];
    messages = [];
    const current = await issued();
    put(current);
    writeFileSync(clientAuthoritiesFile, authority.certificatePem);
    const note = (...line: unknown[]) => messages.push(String(line[1]));
    certificate = new ReloadedTls({
      name: 'serving',
      certificateFile,
      keyFile,
      clientAuthoritiesFile,
      current: { pair: current, clientAuthoritiesPem: authority.certificatePem },
      replace: (material) => served.push(material),
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
    expect(served.map(({ pair }) => pair)).toEqual([next]);
  });

  it('stays in use when a file is missing or is not PEM', async () => {
    writeFileSync(certificateFile, 'no certificate');
    await certificate.poll();
    rmSync(keyFile);
    await certificate.poll();
    expect(served).toEqual([]);
    expect(messages).toHaveLength(2);
  });

  it('accepts clients of new authorities, and keeps the old ones while the file is broken', async () => {
    writeFileSync(clientAuthoritiesFile, 'garbage');
    await certificate.poll();
    expect([served.length, messages.length]).toEqual([0, 1]);
    const other = await createAuthority('other', 86_400_000, systemClock);
    writeFileSync(clientAuthoritiesFile, authority.certificatePem + other.certificatePem);
    await certificate.poll();
    expect(served.at(-1)?.clientAuthoritiesPem).toContain(other.certificatePem);
  });

  it('serves with a given pair, whatever the files contain', async () => {
    const given = await issued();
    certificate.present(given);
    put(await issued());
    await certificate.poll();
    expect(served.map(({ pair }) => pair)).toEqual([given]);
  });
});
