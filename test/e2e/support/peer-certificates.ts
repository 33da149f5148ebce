/** An authority and its certificates, as files, each for servers and clients. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueCertificate, type KeyPairPem, systemClock } from '@orch/component';

const dayMs = 86_400_000;

export class PeerCertificates {
  private readonly directory = mkdtempSync(join(tmpdir(), 'orch-pki-'));
  readonly authorityFile = join(this.directory, 'ca.crt');

  private constructor(private readonly authority: KeyPairPem) {
    writeFileSync(this.authorityFile, authority.certificatePem);
  }

  static async create(): Promise<PeerCertificates> {
    return new PeerCertificates(await createAuthority('test', dayMs, systemClock));
  }

  get authorityPem(): string {
    return this.authority.certificatePem;
  }

  /** Creates the pair of files, or replaces both, as a rotation does. */
  async issue(name: string): Promise<void> {
    const use = {
      commonName: name,
      hosts: ['127.0.0.1', 'localhost'],
      usages: ['server', 'client'] as const,
      validMs: dayMs,
    };
    const { keyPem, certificatePem } = await issueCertificate(
      this.authority,
      { ...use, usages: [...use.usages] },
      systemClock,
    );
    const { keyFile, certificateFile } = this.files(name);
    replace(keyFile, keyPem);
    replace(certificateFile, certificatePem);
  }

  files(name: string): { readonly certificateFile: string; readonly keyFile: string } {
    return {
      certificateFile: join(this.directory, `${name}.crt`),
      keyFile: join(this.directory, `${name}.key`),
    };
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
