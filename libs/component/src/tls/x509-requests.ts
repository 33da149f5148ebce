/** The implementation of certificate requests (PKCS #10) of `pki.ts` with an X.509 library. */
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  type Extension,
  type JsonAttributeObject,
  type JsonGeneralName,
  Name,
  PemConverter,
  Pkcs10CertificateRequest,
  Pkcs10CertificateRequestGenerator,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { Clock } from '../clock.js';
import { errorMessage } from '../errors/thrown.js';
import {
  CertificateRequestError,
  type KeyPairPem,
  type RequestedNames,
  type SigningOptions,
} from './certificate-request.js';
import { usageExtensions } from './key-usages.js';
import { backdateMs, keyPairOf, newSerialNumber, signingKeyOf } from './x509-keys.js';

const requestType = 'CERTIFICATE REQUEST';

/**
 * The attributes of a subject that are copied, in their order in certificates. The last common name
 * and serial number apply, as in the reference.
 */
const subjectAttributes = ['C', 'O', 'OU', 'L', 'ST', '2.5.4.9', '2.5.4.17', 'CN', '2.5.4.5'];
const singleAttributes: ReadonlySet<string> = new Set(['CN', '2.5.4.5']);

/** The share of a short lifetime by which a certificate is backdated. */
const backdateShare = 0.01;

/** Returns a request, as PEM, that is signed with `keyPem`. */
export async function createRequest(
  keyPem: string,
  names: Pick<RequestedNames, 'commonName' | 'organizations'> & Partial<RequestedNames>,
): Promise<string> {
  const { keys, algorithm } = await keyPairOf(keyPem);
  const alternativeNames: JsonGeneralName[] = [
    ...(names.dnsNames ?? []).map((value) => ({ type: 'dns', value }) as const),
    ...(names.ipAddresses ?? []).map((value) => ({ type: 'ip', value }) as const),
  ];
  const request = await Pkcs10CertificateRequestGenerator.create(
    {
      name: subjectName(
        new Map([
          ['O', names.organizations],
          ['CN', [names.commonName]],
        ]),
      ),
      keys,
      signingAlgorithm: algorithm,
      extensions:
        alternativeNames.length > 0 ? [new SubjectAlternativeNameExtension(alternativeNames)] : [],
    },
    webcrypto,
  );
  return `${request.toString('pem')}\n`;
}

/** Returns the names in a request. Throws `CertificateRequestError` if it is unreadable. */
export function namesOf(requestPem: string): RequestedNames {
  const request = parse(requestPem);
  return readable(() => {
    const alternativeNames = alternativeNamesOf(request);
    const ofType = (wanted: string) =>
      alternativeNames.filter(({ type }) => type === wanted).map(({ value }) => value);
    return {
      commonName: request.subjectName.getField('CN').at(-1) ?? '',
      organizations: request.subjectName.getField('O'),
      dnsNames: ofType('dns'),
      ipAddresses: ofType('ip'),
      emailAddresses: ofType('email'),
      uris: ofType('url'),
    };
  });
}

/**
 * Returns a certificate, as PEM, for the names and the key of a request. It never outlives the
 * authority. Throws `CertificateRequestError` if the request is unreadable or not signed with its
 * own key.
 */
export async function signRequest(
  authority: KeyPairPem,
  requestPem: string,
  { usages, validMs }: SigningOptions,
  clock: Clock,
): Promise<string> {
  const request = parse(requestPem);
  const issuer = new X509Certificate(authority.certificatePem);
  const signing = await signingKeyOf(authority.keyPem);
  if (!(await isSelfSigned(request))) {
    throw new CertificateRequestError('unable to verify certificate request signature');
  }
  const subject = readable(() => subjectOf(request));
  const alternativeNames = readable(() => alternativeNamesOf(request));
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: newSerialNumber(),
      ...validity(validMs, issuer, clock),
      subject,
      issuer: issuer.subjectName,
      publicKey: request.publicKey,
      signingKey: signing.key,
      signingAlgorithm: signing.algorithm,
      extensions: [
        ...usageExtensions(usages),
        new BasicConstraintsExtension(false, undefined, true),
        await AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto),
        ...alternativeNameExtension(alternativeNames, subject),
      ],
    },
    webcrypto,
  );
  return `${certificate.toString('pem')}\n`;
}

function parse(requestPem: string): Pkcs10CertificateRequest {
  const [block] = readable(() => PemConverter.decodeWithHeaders(requestPem));
  if (block?.type !== requestType) {
    throw new CertificateRequestError(`PEM block type must be ${requestType}`);
  }
  return readable(() => new Pkcs10CertificateRequest(block.rawData));
}

/** Converts exceptions of the parser, which reads untrusted bytes. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CertificateRequestError) throw error;
    throw new CertificateRequestError(errorMessage(error), { cause: error });
  }
}

async function isSelfSigned(request: Pkcs10CertificateRequest): Promise<boolean> {
  try {
    return await request.verify(webcrypto);
  } catch {
    // A key or an algorithm that cannot be imported verifies nothing.
    return false;
  }
}

function subjectOf(request: Pkcs10CertificateRequest): Name {
  const values = subjectAttributes.map((attribute): [string, readonly string[]] => {
    const present = request.subjectName.getField(attribute).filter((value) => value !== '');
    return [attribute, singleAttributes.has(attribute) ? present.slice(-1) : present];
  });
  return subjectName(new Map(values));
}

/** All values of one attribute form one relative name, as in the reference. */
function subjectName(attributes: ReadonlyMap<string, readonly string[]>): Name {
  const present = [...attributes].filter(([, values]) => values.length > 0);
  return new Name(present.map(([attribute, values]) => ({ [attribute]: values.map(literal) })));
}

/** A plain string would be parsed: a leading `#` as hexadecimal bytes, quotes and backslashes. */
function literal(value: string): JsonAttributeObject {
  return Name.isPrintableString(value) ? { printableString: value } : { utf8String: value };
}

const copiedTypes: ReadonlySet<string> = new Set(['dns', 'ip', 'email', 'url']);

/** Alternative names of other types than those in `copiedTypes` are ignored. */
function alternativeNamesOf(request: Pkcs10CertificateRequest): JsonGeneralName[] {
  const extension = request.extensions.find(
    (one) => one instanceof SubjectAlternativeNameExtension,
  );
  const names = (extension?.names.toJSON() ?? []).filter(({ type }) => copiedTypes.has(type));
  const broken = names.find(({ type, value }) => type === 'ip' && !isIP(value));
  if (broken) throw new CertificateRequestError(`cannot parse IP address ${broken.value}`);
  return names;
}

/** Critical if it is the only name of the certificate. */
function alternativeNameExtension(names: JsonGeneralName[], subject: Name): Extension[] {
  if (names.length === 0) return [];
  return [new SubjectAlternativeNameExtension(names, subject.toJSON().length === 0)];
}

function validity(validMs: number, issuer: X509Certificate, clock: Clock) {
  const nowMs = clock.nowMs();
  const endMs = issuer.notAfter.getTime();
  if (nowMs >= endMs) {
    throw new Error(`the signing certificate expired on ${issuer.notAfter.toISOString()}`);
  }
  const beginMs = nowMs - Math.min(backdateMs, validMs * backdateShare);
  return {
    notBefore: new Date(beginMs),
    notAfter: new Date(Math.min(beginMs + validMs, endMs)),
  };
}
