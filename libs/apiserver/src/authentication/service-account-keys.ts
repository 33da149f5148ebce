/**
 * The keys of service account tokens: one that signs, and all that are believed, so that a key can be
 * replaced while tokens of the old one are about. A key's id is a digest of its public half: the same in
 * every process that has it.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type JsonWebKey,
  type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';

const signingKeyBits = 2_048;
const rsaBitsMin = 2_048;

/** A key that cannot be used; the message names the file and why. */
export class ServiceAccountKeyError extends Error {
  override readonly name = 'ServiceAccountKeyError';
}

export interface VerifyingKey {
  readonly id: string;
  readonly algorithm: string;
  readonly publicKey: KeyObject;
}

export interface SigningKey extends VerifyingKey {
  readonly privateKey: KeyObject;
}

export interface ServiceAccountKeys {
  readonly signing: SigningKey;
  /** Every believed key by its id, that of `signing` included. */
  readonly believed: ReadonlyMap<string, VerifyingKey>;
}

/** The text of a key file and where it came from. */
export interface KeyFile {
  readonly path: string;
  readonly pem: string;
}

/** PKCS #8 PEM of a new private key. Takes up to a second of another thread. */
export async function createSigningKeyPem(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: signingKeyBits });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** `others` hold keys, private or public, of servers whose tokens are believed too. Throws ServiceAccountKeyError. */
export function serviceAccountKeys(
  signing: KeyFile,
  others: readonly KeyFile[],
): ServiceAccountKeys {
  const privateKey = parse(signing, () => createPrivateKey(signing.pem));
  const own = { ...verifyingKey(createPublicKey(privateKey), signing.path), privateKey };
  const believed = new Map<string, VerifyingKey>([[own.id, own]]);
  for (const file of others) {
    const blocks = file.pem.match(/-----BEGIN ([A-Z ]+)-----[\s\S]+?-----END \1-----/g) ?? [];
    if (blocks.length === 0) throw new ServiceAccountKeyError(`${file.path} holds no PEM key`);
    for (const block of blocks) {
      const key = verifyingKey(
        parse(file, () => createPublicKey(block)),
        file.path,
      );
      believed.set(key.id, key);
    }
  }
  return { signing: own, believed };
}

/** The public halves as a JSON web key set. */
export function keySet({ believed }: ServiceAccountKeys): { readonly keys: readonly JsonWebKey[] } {
  return {
    keys: [...believed.values()].map(({ id, algorithm, publicKey }) => ({
      use: 'sig',
      kid: id,
      alg: algorithm,
      ...publicKey.export({ format: 'jwk' }),
    })),
  };
}

function parse(file: KeyFile, read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceAccountKeyError(`${file.path} holds no usable PEM key: ${why}`, { cause });
  }
}

function verifyingKey(publicKey: KeyObject, path: string): VerifyingKey {
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
  throw new ServiceAccountKeyError(
    `${path}: want an RSA key of at least ${rsaBitsMin} bits or an EC key of P-256, P-384 or P-521`,
  );
}
