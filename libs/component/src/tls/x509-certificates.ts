/** What `pki.ts` promises, done with X.509 structures. Loaded only by those who make certificates. */
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  type JsonName,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Clock } from '../clock.js';
import type { CertificateRequest, KeyPairPem } from './certificate-request.js';

/** Allowance for clocks of peers that are behind. */
const backdateMs = 5 * 60_000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

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

/** A certificate signed by `authority`. */
export async function issueCertificate(
  authority: KeyPairPem,
  request: CertificateRequest,
  clock: Clock,
): Promise<KeyPairPem> {
  const issuer = new X509Certificate(authority.certificatePem);
  const keys = await generateKeys();
  const certificate = await X509CertificateGenerator.create(
    {
      ...validity(request.validMs, clock),
      subject: subjectOf(request),
      issuer: issuer.subjectName.toJSON(),
      publicKey: keys.publicKey,
      signingKey: await importKey(authority.keyPem),
      signingAlgorithm: algorithm,
      extensions: [
        ...leafExtensions(request),
        await AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto),
      ],
    },
    webcrypto,
  );
  return { certificatePem: pemText(certificate), keyPem: await exportKey(keys.privateKey) };
}

/** A server certificate that only itself vouches for: where no authority is configured. */
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
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return {
    serialNumber: serial.toString('hex'),
    notBefore: new Date(nowMs - backdateMs),
    notAfter: new Date(nowMs + validMs),
  };
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  cryptoProvider.set(webcrypto);
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = await webcrypto.subtle.exportKey('pkcs8', key);
  return `${PemConverter.encode(bytes, 'PRIVATE KEY')}\n`;
}

function importKey(keyPem: string): Promise<webcrypto.CryptoKey> {
  const [bytes] = PemConverter.decode(keyPem);
  if (!bytes) throw new Error('the authority key holds no PEM block');
  return webcrypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign']);
}

function pemText(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`;
}
