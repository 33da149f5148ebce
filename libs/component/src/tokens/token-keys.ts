/**
 * Keys of service account tokens. The id of a key is a digest of its public half, so that every
 * process that has the key names it the same.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { errorMessage } from '../errors/thrown.js';

const rsaBitsMin = 2_048;

/** A key that cannot be used; the message names the file and why. */
export class TokenKeyError extends Error {
  override readonly name = 'TokenKeyError';
}

export interface TokenVerifyingKey {
  readonly id: string;
  /** The algorithm of its signatures, such as `RS256`. */
  readonly algorithm: string;
  readonly publicKey: KeyObject;
}

export interface TokenSigningKey extends TokenVerifyingKey {
  readonly privateKey: KeyObject;
}

/** The text and the path of a key file. */
export interface TokenKeyFile {
  readonly path: string;
  readonly pem: string;
}

/** The private key of a file. Throws `TokenKeyError`. */
export function tokenSigningKey(file: TokenKeyFile): TokenSigningKey {
  const privateKey = parse(file, () => createPrivateKey(file.pem));
  return { ...verifyingKey(createPublicKey(privateKey), file.path), privateKey };
}

/** All keys of a file, private or public, at least one. Throws `TokenKeyError`. */
export function tokenVerifyingKeys(file: TokenKeyFile): TokenVerifyingKey[] {
  const blocks = file.pem.match(/-----BEGIN ([A-Z ]+)-----[\s\S]+?-----END \1-----/g) ?? [];
  if (blocks.length === 0) throw new TokenKeyError(`${file.path} holds no PEM key`);
  return blocks.map((block) => {
    const publicKey = parse(file, () => createPublicKey(block));
    return verifyingKey(publicKey, file.path);
  });
}

function parse(file: TokenKeyFile, read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (cause) {
    const why = errorMessage(cause);
    throw new TokenKeyError(`${file.path} holds no usable PEM key: ${why}`, { cause });
  }
}

function verifyingKey(publicKey: KeyObject, path: string): TokenVerifyingKey {
  const der = publicKey.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(der).digest('base64url');
  return { id, algorithm: algorithmOf(publicKey, path), publicKey };
}

const curveAlgorithms: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, path: string): string {
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa' && modulusLength >= rsaBitsMin) return 'RS256';
  const algorithm = asymmetricKeyType === 'ec' ? curveAlgorithms[namedCurve] : undefined;
  if (algorithm !== undefined) return algorithm;
  throw new TokenKeyError(
    `${path}: want an RSA key of at least ${rsaBitsMin} bits or an EC key of P-256, P-384 or P-521`,
  );
}
