/** The implementation of `pki.ts` with an X.509 library. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Clock } from '../clock.js';
import type { CertificateRequest, KeyPairPem } from './certificate-request.js';
import {
  algorithm,
  backdateMs,
  exportKey,
  generateKeys,
  newSerialNumber,
  signingKeyOf,
} from './x509-keys.js';

export async function createAuthority(
  commonName: string,
  validMs: number,
  clock: Clock,
): Promise<KeyPairPem> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      ...validity(validMs, clock),
      name: [{ CN: [commonName] }],
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(
          KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature,
          true,
        ),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return { certificatePem: pemText(certificate), keyPem: await exportKey(keys.privateKey) };
}

/** Issues a certificate signed by `authority`. */
export async function issueCertificate(
  authority: KeyPairPem,
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  const issuer = new X509Certificate(authority.certificatePem);
  const keys = await generateKeys();
  const signing = await signingKeyOf(authority.keyPem);
  const certificate = await X509CertificateGenerator.create(
    {
      ...validity(request.validMs, clock),
      subject: subjectOf(request),
      issuer: issuer.subjectName,
      publicKey: keys.publicKey,
      signingKey: signing.key,
      signingAlgorithm: signing.algorithm,
      extensions: [
        ...leafExtensions(request),
        await AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return { certificatePem: pemText(certificate), keyPem: await exportKey(keys.privateKey) };
}

/** Creates a self-signed server certificate. */
export async function createSelfSigned(
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      ...validity(request.validMs, clock),
      name: subjectOf(request),
      keys,
      signingAlgorithm: algorithm,
      extensions: leafExtensions(request),
    },
    webcrypto,
  );
  return { certificatePem: pemText(certificate), keyPem: await exportKey(keys.privateKey) };
}

function leafExtensions(request: CertificateRequest): Extension[] {
  const extensions: Extension[] = [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment, true),
    new ExtendedKeyUsageExtension(
      request.usages.map((usage) =>
        usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth,
      ),
    ),
  ];
  const hosts = [...new Set(request.hosts ?? [])];
  if (hosts.length > 0) {
    extensions.push(
      new SubjectAlternativeNameExtension(
        hosts.map((host) => ({ type: isIP(host) ? 'ip' : 'dns', value: host }) as const),
      ),
    );
  }
  return extensions;
}

function subjectOf(request: CertificateRequest): JsonName {
  const organizations = (request.organizations ?? []).map((name) => ({ O: [name] }));
  return [...organizations, { CN: [request.commonName] }];
}

function validity(validMs: number, clock: Clock) {
  const nowMs = clock.nowMs();
  return {
    serialNumber: newSerialNumber(),
    notBefore: new Date(nowMs - backdateMs),
    notAfter: new Date(nowMs + validMs),
  };
}

function pemText(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}
