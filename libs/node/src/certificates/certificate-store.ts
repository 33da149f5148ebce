/**
 * A certificate of the node on disk: `<name>-current.pem` contains the certificate and its key, so
 * that both change at the same time. The key of a pending request is in `<name>.key.tmp`, so that a
 * restarted agent continues the request. Both files have mode 0600.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, createKeyPem, type KeyPairPem, writeFileAtomic } from '@orch/component';
import type { Validity } from './rotation-plan.js';

export class CertificateStore {
  readonly path: string;
  private readonly pendingPath: string;

  constructor(
    private readonly directory: string,
    name: string,
    private readonly clock: Clock,
  ) {
    this.path = join(directory, `${name}-current.pem`);
    this.pendingPath = join(directory, `${name}.key.tmp`);
  }

  /** The stored pair; undefined if it is missing, broken, expired or of another user. */
  current(commonName: string): KeyPairPem | undefined {
    if (!existsSync(this.path)) return undefined;
    const text = readFileSync(this.path, 'utf8');
    const pair = { certificatePem: text, keyPem: text };
    return isUsable(pair, commonName, this.clock.nowMs()) ? pair : undefined;
  }

  /** Stores the pair and removes the pending key. */
  save({ certificatePem, keyPem }: KeyPairPem): KeyPairPem {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    const text = `${certificatePem.trimEnd()}\n${keyPem}`;
    writeFileAtomic(this.path, text, 0o600);
    this.removePendingKey();
    return { certificatePem: text, keyPem: text };
  }

  /** The key for the next certificate. Creates it unless a request is pending. */
  async pendingKey(): Promise<string> {
    if (existsSync(this.pendingPath)) {
      const stored = readFileSync(this.pendingPath, 'utf8');
      if (isKey(stored)) return stored;
    }
    const created = await createKeyPem();
    mkdirSync(this.directory, { recursive: true, mode: 0o700 });
    writeFileAtomic(this.pendingPath, created, 0o600);
    return created;
  }

  removePendingKey(): void {
    rmSync(this.pendingPath, { force: true });
  }
}

/** Whether the certificate is of `commonName`, matches its key and has not expired. */
export function isUsable(pair: KeyPairPem, commonName: string, nowMs: number): boolean {
  try {
    const certificate = new X509Certificate(pair.certificatePem);
    return (
      certificate.subject.split('\n').includes(`CN=${commonName}`) &&
      Date.parse(certificate.validTo) > nowMs &&
      certificate.checkPrivateKey(createPrivateKey(pair.keyPem))
    );
  } catch {
    // Not PEM: as if it were missing.
    return false;
  }
}

export function validityOf({ certificatePem }: KeyPairPem): Validity {
  const { validFrom, validTo } = new X509Certificate(certificatePem);
  return { fromMs: Date.parse(validFrom), toMs: Date.parse(validTo) };
}

function isKey(text: string): boolean {
  try {
    createPrivateKey(text);
    return true;
  } catch {
    // Replaced by a new key.
    return false;
  }
}
