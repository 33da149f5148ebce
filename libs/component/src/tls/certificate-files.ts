/**
 * Certificates stored as files: `<name>.crt` and `<name>.key` in one directory, with mode 0600. A
 * missing pair is created; a pair that expires soon, was issued by another authority or does not
 * match the request is replaced. An authority is never replaced, because all certificates that it
 * issued would become invalid.
 */
import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Clock } from '../clock.js';
import { writeFileAtomic } from '../files/write-file-atomic.js';
import type { CertificateRequest, KeyPairPem } from './certificate-request.js';
import { createAuthority, createSelfSigned, issueCertificate } from './pki.js';

/** A certificate is renewed when less than this share of its lifetime remains. */
const renewShare = 0.2;

/** A stored certificate is unusable; the message contains the file and the remedy. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
  readonly code = 'certificate-invalid';
}

/** Returns the pair stored under `name`; undefined if both files are missing. */
export function loadKeyPair(directory: string, name: string): KeyPairPem | undefined {
  const { certificatePath, keyPath } = pathsOf(directory, name);
  const missing = [certificatePath, keyPath].filter((path) => !existsSync(path));
  if (missing.length === 2) return undefined;
  if (missing.length === 1) {
    throw new CertificateError(
      `${missing[0]} is missing although the other file of the pair exists; restore it or remove both`,
    );
  }
  return {
    certificatePem: readFileSync(certificatePath, 'utf8'),
    keyPem: readFileSync(keyPath, 'utf8'),
  };
}

/** Writes both files, the key first, so that a certificate never exists without its key. */
export function saveKeyPair(directory: string, name: string, pair: KeyPairPem): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { certificatePath, keyPath } = pathsOf(directory, name);
  writeFileAtomic(keyPath, pair.keyPem, 0o600);
  writeFileAtomic(certificatePath, pair.certificatePem, 0o600);
}

/** Returns the authority stored under `name`; creates it if missing. Throws if it has expired. */
export async function ensureAuthority(
  directory: string,
  name: string,
  commonName: string,
  validMs: number,
  clock: Clock,
): Promise<KeyPairPem> {
  const stored = loadKeyPair(directory, name);
  if (!stored) {
    const created = await createAuthority(commonName, validMs, clock);
    saveKeyPair(directory, name, created);
    return created;
  }
  const certificate = parseCertificate(
    stored.certificatePem,
    pathsOf(directory, name).certificatePath,
  );
  if (Date.parse(certificate.validTo) <= clock.nowMs()) {
    throw new CertificateError(
      `the authority in ${pathsOf(directory, name).certificatePath} expired on ${certificate.validTo}; remove it and all certificates in its directory to create new ones`,
    );
  }
  return stored;
}

/** Returns the certificate stored under `name` if it is usable; otherwise issues a new one. */
export async function ensureCertificate(
  directory: string,
  name: string,
  authority: KeyPairPem,
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  const stored = loadKeyPair(directory, name);
  if (stored && isUsable(stored, request, clock, authority)) return stored;
  const issued = await issueCertificate(authority, request, clock);
  saveKeyPair(directory, name, issued);
  return issued;
}

/** Like `ensureCertificate`, with a self-signed certificate. */
export async function ensureSelfSigned(
  directory: string,
  name: string,
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  const stored = loadKeyPair(directory, name);
  if (stored && isUsable(stored, request, clock)) return stored;
  const created = await createSelfSigned(request, clock);
  saveKeyPair(directory, name, created);
  return created;
}

/** Whether the pair matches the request, was issued by `authority` and does not expire soon. */
function isUsable(
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
  // A certificate with further groups would grant more than requested.
  if (subject.length !== wanted.length || !wanted.every((line) => subject.includes(line))) {
    return false;
  }
  return (request.hosts ?? []).every((host) =>
    isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host, { subject: 'never' }),
  );
}

function parseCertificate(pem: string, where: string): X509Certificate {
  const certificate = tryParse(pem);
  if (!certificate) throw new CertificateError(`${where} contains no certificate`);
  return certificate;
}

function tryParse(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    // Not a certificate: the caller creates a new one or reports the file.
    return undefined;
  }
}

function pathsOf(directory: string, name: string) {
  return {
    certificatePath: join(directory, `${name}.crt`),
    keyPath: join(directory, `${name}.key`),
  };
}
