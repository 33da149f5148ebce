/**
 * The keys of service account tokens: one that signs, and all that are believed, so that a key can
 * be replaced while tokens of the old one are about.
 */
import { generateKeyPair, type JsonWebKey } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type TokenKeyFile,
  type TokenSigningKey,
  type TokenVerifyingKey,
  tokenSigningKey,
  tokenVerifyingKeys,
} from '@orch/component';

const signingKeyBits = 2_048;

export interface ServiceAccountKeys {
  readonly signing: TokenSigningKey;
  /** Every believed key by its id, that of `signing` included. */
  readonly believed: ReadonlyMap<string, TokenVerifyingKey>;
}

/** PKCS #8 PEM of a new private key. Takes up to a second of another thread. */
export async function createSigningKeyPem(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: signingKeyBits });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * `others` hold keys, private or public, of servers whose tokens are believed too. Throws
 * TokenKeyError.
 */
export function serviceAccountKeys(
  signing: TokenKeyFile,
  others: readonly TokenKeyFile[],
): ServiceAccountKeys {
  const own = tokenSigningKey(signing);
  const believed = [own, ...others.flatMap(tokenVerifyingKeys)];
  return { signing: own, believed: new Map(believed.map((key) => [key.id, key])) };
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
