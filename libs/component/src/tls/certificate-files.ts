/**
 * Certificates kept as files: `<name>.crt` and `<name>.key` in one directory, private to their owner.
 * A pair is made when it is missing and made anew when it is near its end, does not belong to the
 * authority, or does not say what is asked for. The authority itself is never replaced silently: every
 * certificate in use would break.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../clock.js';
import { writeFileAtomic } from '../files/write-file-atomic.js';
import type { CertificateRequest, KeyPairPem } from './certificate-request.js';
import { createAuthority, createSelfSigned, issueCertificate } from './pki.js';

/** A certificate is renewed when less than this share of its life is left. */
const renewShare = 0.2;

/** A stored certificate cannot be used; the message names file and cure. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
  readonly code = 'certificate-invalid';
}

/** The pair kept under `name`, or undefined when neither file is there. */
export function loadKeyPair(directory: string, name: string): KeyPairPem | undefined {
  const { certificatePath, keyPath } = pathsOf(directory, name);
  const missing = [certificatePath, keyPath].filter((path) => !existsSync(path));
  if (missing.length === 2) return undefined;
  if (missing.length === 1) {
    throw new CertificateError(
      `${missing[0]} is missing beside its other half; restore it or remove both`,
    );
  }
  return {
    certificatePem: readFileSync(certificatePath, 'utf8'),
    keyPem: readFileSync(keyPath, 'utf8'),
  };
}

/** Writes both files; the key first, so that a certificate is never there without its key. */
export function saveKeyPair(directory: string, name: string, pair: KeyPairPem): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { certificatePath, keyPath } = pathsOf(directory, name);
  writeFileAtomic(keyPath, pair.keyPem, 0o600);
  writeFileAtomic(certificatePath, pair.certificatePem, 0o600);
}

/** The authority kept under `name`; created when there is none. Throws when it has run out. */
export async function ensureAuthority(
  directory: string,
  name: string,
  commonName: string,
  validMs: number,
  clock: Clock,
): Promise<KeyPairPem> {
  const kept = loadKeyPair(directory, name);
  if (!kept) {
    const created = await createAuthority(commonName, validMs, clock);
    saveKeyPair(directory, name, created);
    return created;
  }
  const certificate = parseCertificate(
    kept.certificatePem,
    pathsOf(directory, name).certificatePath,
  );
  if (Date.parse(certificate.validTo) <= clock.nowMs()) {
    throw new CertificateError(
      `the authority in ${pathsOf(directory, name).certificatePath} ended on ${certificate.validTo}; remove it and all certificates beside it to make new ones`,
    );
  }
  return kept;
}

/** The certificate kept under `name` while it is good; otherwise a new one from `authority`. */
export async function ensureCertificate(
  directory: string,
  name: string,
  authority: KeyPairPem,
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  const kept = loadKeyPair(directory, name);
  if (kept && isGood(kept, request, clock, authority)) return kept;
  const issued = await issueCertificate(authority, request, clock);
  saveKeyPair(directory, name, issued);
  return issued;
}

/** As `ensureCertificate`, for a server without an authority. */
export async function ensureSelfSigned(
  directory: string,
  name: string,
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  const kept = loadKeyPair(directory, name);
  if (kept && isGood(kept, request, clock)) return kept;
  const created = await createSelfSigned(request, clock);
  saveKeyPair(directory, name, created);
  return created;
}

function isGood(
  pair: KeyPairPem,
  request: CertificateRequest,
  clock: Clock,
  authority?: KeyPairPem,
): boolean {
  const certificate = tryParse(pair.certificatePem);
  if (!certificate) return false;
  const fromMs = Date.parse(certificate.validFrom);
  const toMs = Date.parse(certificate.validTo);
  if (toMs - clock.nowMs() < (toMs - fromMs) * renewShare) return false;
  if (authority) {
    const issuer = tryParse(authority.certificatePem);
    if (!issuer || !certificate.verify(issuer.publicKey)) return false;
  }
  const subject = certificate.subject.split('\n');
  const wanted = [
    `CN=${request.commonName}`,
    ...(request.organizations ?? []).map((name) => `O=${name}`),
  ];
  if (!wanted.every((line) => subject.includes(line))) return false;
  return (request.hosts ?? []).every((host) =>
    isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host, { subject: 'never' }),
  );
}

function parseCertificate(pem: string, where: string): X509Certificate {
  const certificate = tryParse(pem);
  if (!certificate) throw new CertificateError(`${where} holds no certificate`);
  return certificate;
}

function tryParse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    // Not a certificate: the caller makes a new one or names the file.
    return undefined;
  }
}

function pathsOf(directory: string, name: string) {
  return {
    certificatePath: join(directory, `${name}.crt`),
    keyPath: join(directory, `${name}.key`),
  };
}
