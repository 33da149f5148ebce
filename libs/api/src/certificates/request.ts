/**
 * Parses certificate requests (PKCS #10) and certificates from the PEM text in objects. Client
 * input never throws: failures are messages.
 */
import 'reflect-metadata';
import { constants, verify, X509Certificate } from 'node:crypto';
import {
  PemConverter,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509';

const requestType = 'CERTIFICATE REQUEST';
const certificateType = 'CERTIFICATE';

/** The subject of a request. */
export interface RequestedSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Kinds of the requested alternative names: `dns`, `ip`, `email`, `url` and others. */
  readonly alternativeNames: readonly string[];
}

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

type PemBlock = ReturnType<typeof PemConverter.decodeWithHeaders>[number];

/** Converts exceptions of the parser, which reads untrusted bytes, to a failure. */
function attempt<T>(read: () => T): Parsed<T> {
  try {
    return { value: read() };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** `encoded`: base64 of the PEM text. */
function blocksOf(encoded: string): Parsed<PemBlock[]> {
  return attempt(() => PemConverter.decodeWithHeaders(Buffer.from(encoded, 'base64').toString()));
}

function readRequest(encoded: string): Parsed<Pkcs10CertificateRequest> {
  const blocks = blocksOf(encoded);
  if ('problem' in blocks) return blocks;
  const block = blocks.value[0];
  if (block?.type !== requestType) return { problem: `PEM block type must be ${requestType}` };
  return attempt(() => new Pkcs10CertificateRequest(block.rawData));
}

/** The problem with a request: it is unreadable, or not signed with its own key. */
export function requestProblem(encoded: string): string | undefined {
  const request = readRequest(encoded);
  if ('problem' in request) return request.problem;
  const checked = attempt(() => isSelfSigned(request.value));
  if ('problem' in checked) return checked.problem;
  return checked.value ? undefined : 'the signature does not fit the key';
}

function isSelfSigned(request: Pkcs10CertificateRequest): boolean {
  const algorithm: object = request.signatureAlgorithm;
  const { name, hash } = algorithm as { name?: string; hash?: { name: string } };
  const key = {
    key: Buffer.from(request.publicKey.rawData),
    format: 'der' as const,
    type: 'spki' as const,
    ...(name === 'RSA-PSS' && { padding: constants.RSA_PKCS1_PSS_PADDING }),
  };
  // Edwards curves have no separate hash.
  const hashName = hash ? hash.name.replace('-', '').toLowerCase() : undefined;
  const signed = signedPart(new Uint8Array(request.rawData));
  return verify(hashName, signed, key, new Uint8Array(request.signature));
}

/** The first element of the outer sequence: the signed bytes. */
function signedPart(der: Uint8Array): Uint8Array {
  const { contentAt } = elementAt(der, 0);
  return der.subarray(contentAt, elementAt(der, contentAt).end);
}

/** The start of the content and the end of the DER element at `at`. */
function elementAt(der: Uint8Array, at: number): { contentAt: number; end: number } {
  const first = der[at + 1] ?? 0;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  let length = lengthBytes === 0 ? first : 0;
  for (let index = 0; index < lengthBytes; index += 1)
    length = length * 256 + (der[at + 2 + index] ?? 0);
  const contentAt = at + 2 + lengthBytes;
  return { contentAt, end: contentAt + length };
}

/** Undefined if the request is unreadable. */
export function requestedSubject(encoded: string): RequestedSubject | undefined {
  const request = readRequest(encoded);
  if ('problem' in request) return undefined;
  const subject = attempt(() => {
    const { subjectName, extensions } = request.value;
    const names = extensions.find(
      (extension) => extension instanceof SubjectAlternativeNameExtension,
    );
    return {
      commonName: subjectName.getField('CN').at(-1) ?? '',
      organizations: subjectName.getField('O'),
      alternativeNames: names?.names.items.map(({ type }) => type) ?? [],
    };
  });
  return 'problem' in subject ? undefined : subject.value;
}

/** The problem with the certificates of an object; an empty list is valid. */
export function certificatesProblem(encoded: string): string | undefined {
  if (encoded === '') return undefined;
  const blocks = blocksOf(encoded);
  if ('problem' in blocks) return blocks.problem;
  for (const { type, headers, rawData } of blocks.value) {
    if (type !== certificateType) {
      return `only ${certificateType} PEM blocks are allowed, found ${JSON.stringify(type)}`;
    }
    if (headers.length > 0) return 'no PEM block headers are permitted';
    const certificate = attempt(() => new X509Certificate(new Uint8Array(rawData)));
    if ('problem' in certificate) return certificate.problem;
  }
  return blocks.value.length > 0
    ? undefined
    : `must contain at least one ${certificateType} PEM block`;
}
