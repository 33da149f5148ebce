/** The authorities and certificates of one chaos cluster, as files. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Clock,
  createAuthority,
  issueCertificate,
  type KeyPairPem,
  systemClock,
} from '@orch/component';

const dayMs = 86_400_000;
/** Certificates are valid from this long before now, for servers whose clock is behind. */
const skewAllowedMs = -2 * 3_600_000;

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

export class Certificates {
  private constructor(
    private readonly directory: string,
    private readonly authority: KeyPairPem,
  ) {}

  static async create(directory: string): Promise<Certificates> {
    mkdirSync(directory, { recursive: true });
    const authority = await createAuthority('chaos', 3 * dayMs, clockAt(-dayMs));
    const certificates = new Certificates(directory, authority);
    writeFileSync(certificates.authorityFile, authority.certificatePem);
    return certificates;
  }

  get authorityFile(): string {
    return join(this.directory, 'ca.crt');
  }

  get authorityPem(): string {
    return this.authority.certificatePem;
  }

  /**
   * Creates or replaces a pair for use as server and client. `shiftMs` moves its validity, for
   * example into the past for an expired one.
   */
  async issue(
    name: string,
    { validMs = dayMs, shiftMs = skewAllowedMs } = {},
  ): Promise<CertificateFiles> {
    const pair = await issueCertificate(
      this.authority,
      {
        commonName: name,
        hosts: ['127.0.0.1', 'localhost'],
        usages: ['server', 'client'],
        validMs,
      },
      clockAt(shiftMs),
    );
    const files = this.files(name);
    replace(files.key, pair.keyPem);
    replace(files.certificate, pair.certificatePem);
    return files;
  }

  files(name: string): CertificateFiles {
    return {
      certificate: join(this.directory, `${name}.crt`),
      key: join(this.directory, `${name}.key`),
    };
  }
}

function clockAt(shiftMs: number): Clock {
  return { ...systemClock, nowMs: () => systemClock.nowMs() + shiftMs };
}

function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
