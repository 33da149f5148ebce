/** Certificates and certificate requests, valid and not, with odd subjects. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonName,
  PemConverter,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import fc from 'fast-check';
import { hostileText } from './text.js';

export interface CertificatePlan {
  /** `namesake`: another authority of the same name. */
  readonly signer: 'authority' | 'namesake' | 'stranger' | 'itself';
  readonly validity: 'now' | 'past' | 'future';
  readonly usage: 'client' | 'server' | 'both' | 'none';
  readonly subject: readonly { readonly type: 'CN' | 'O' | 'OU'; readonly text: string }[];
}

const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const rsaAlgorithm = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2_048,
  publicExponent: new Uint8Array([1, 0, 1]),
} as const;
const dayMs = 86_400_000;
const nameLengthMax = 40;

/**
 * Without a leading # and backslashes, which the X.509 library reads as an encoding of the value,
 * and without lone surrogates, which have no encoding.
 */
const nameText = fc.oneof(
  fc.constantFrom('ann', 'system:node:a', 'system:masters', 'system:nodes', 'a,O=system:masters'),
  fc.constantFrom('CN=root', 'a+O=b', 'a/O=b', '\u0000root', 'żółw', '*', ' ', 'a"b', "a'b"),
  hostileText.map((text) => {
    const short = Array.from(text).slice(0, nameLengthMax).join('');
    return Buffer.from(short.replace(/^#+|\\/g, '')).toString() || 'x';
  }),
);

export const certificatePlans: fc.Arbitrary<CertificatePlan> = fc.record({
  signer: fc.constantFrom<CertificatePlan['signer'][]>(
    ...(['authority', 'authority', 'authority', 'namesake', 'stranger', 'itself'] as const),
  ),
  validity: fc.constantFrom<CertificatePlan['validity'][]>('now', 'now', 'now', 'past', 'future'),
  usage: fc.constantFrom<CertificatePlan['usage'][]>('client', 'client', 'both', 'none', 'server'),
  subject: fc.array(
    fc.record({ type: fc.constantFrom('CN', 'CN', 'O', 'OU' as const), text: nameText }),
    { maxLength: 4 },
  ) as fc.Arbitrary<CertificatePlan['subject']>,
});

const textsOf = (subject: CertificatePlan['subject'], wanted: string) =>
  subject.filter(({ type }) => type === wanted).map(({ text }) => text);

export const commonNamesOf = (subject: CertificatePlan['subject']) => textsOf(subject, 'CN');
export const organizationsOf = (subject: CertificatePlan['subject']) => textsOf(subject, 'O');

function nameOf(subject: CertificatePlan['subject']): JsonName {
  return subject.map(({ type, text }) => ({ [type]: [text] }));
}

type Pair = webcrypto.CryptoKeyPair;

const authorityName = [{ CN: ['authority'] }];

/** Issues certificates by plan. One key pair serves all subjects, because keys are costly. */
export class Issuer {
  private constructor(
    private readonly authority: Pair,
    private readonly stranger: Pair,
    private readonly leaf: Pair,
    private readonly rsa: Pair,
    readonly keyPem: string,
    readonly authorityPem: string,
    readonly serverPem: string,
  ) {}

  static async create(): Promise<Issuer> {
    cryptoProvider.set(webcrypto);
    const pair = () => webcrypto.subtle.generateKey(keyAlgorithm, true, ['sign', 'verify']);
    const [authority, stranger, leaf] = await Promise.all([pair(), pair(), pair()]);
    const rsa = await webcrypto.subtle.generateKey(rsaAlgorithm, true, ['sign', 'verify']);
    const selfSigned = (name: JsonName, keys: Pair, isAuthority: boolean) =>
      X509CertificateGenerator.createSelfSigned(
        {
          ...{ name, keys, signingAlgorithm: keyAlgorithm, serialNumber: '01' },
          ...validityOf('now'),
          extensions: [new BasicConstraintsExtension(isAuthority, undefined, true)],
        },
        webcrypto,
      );
    const keyBytes = await webcrypto.subtle.exportKey('pkcs8', leaf.privateKey);
    return new Issuer(
      ...[authority, stranger, leaf, rsa],
      PemConverter.encode(keyBytes, 'PRIVATE KEY'),
      (await selfSigned(authorityName, authority, true)).toString('pem'),
      (await selfSigned([{ CN: ['server'] }], leaf, false)).toString('pem'),
    );
  }

  async certificate({ signer, validity, usage, subject }: CertificatePlan): Promise<string> {
    const usages = {
      client: [ExtendedKeyUsage.clientAuth],
      server: [ExtendedKeyUsage.serverAuth],
      both: [ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth],
      none: [],
    }[usage];
    const keys = { authority: this.authority, itself: this.leaf }[signer as string];
    const issuer = { stranger: [{ CN: ['stranger'] }], itself: nameOf(subject) }[signer as string];
    const certificate = await X509CertificateGenerator.create(
      {
        ...validityOf(validity),
        serialNumber: '02',
        subject: nameOf(subject),
        issuer: issuer ?? authorityName,
        publicKey: this.leaf.publicKey,
        signingKey: (keys ?? this.stranger).privateKey,
        signingAlgorithm: keyAlgorithm,
        extensions: usages.length === 0 ? [] : [new ExtendedKeyUsageExtension(usages)],
      },
      webcrypto,
    );
    return certificate.toString('pem');
  }

  /** A request that is signed with its own key, as DER. */
  async request({ subject, usage }: CertificatePlan, type: 'rsa' | 'ec'): Promise<Buffer> {
    const request = await Pkcs10CertificateRequestGenerator.create(
      {
        name: nameOf(subject),
        keys: type === 'rsa' ? this.rsa : this.leaf,
        signingAlgorithm: type === 'rsa' ? rsaAlgorithm : keyAlgorithm,
        extensions:
          usage === 'server'
            ? [new SubjectAlternativeNameExtension([{ type: 'dns', value: 'a.example' }])]
            : [],
      },
      webcrypto,
    );
    return Buffer.from(request.rawData);
  }
}

function validityOf(validity: CertificatePlan['validity']) {
  const nowMs = Date.now();
  const offsetMs = { now: 0, past: -3 * dayMs, future: 3 * dayMs }[validity];
  return {
    notBefore: new Date(nowMs + offsetMs - dayMs),
    notAfter: new Date(nowMs + offsetMs + dayMs),
  };
}
