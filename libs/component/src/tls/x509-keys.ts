/** Keys and serial numbers of the certificates that this library creates. */
import 'reflect-metadata';
import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  webcrypto,
} from 'node:crypto';
import { cryptoProvider, PemConverter } from '@peculiar/x509';

/** Tolerance for peers whose clock is behind. */
export const backdateMs = 5 * 60_000;

/** The algorithm of new keys. */
export const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

type SigningAlgorithm = typeof algorithm | { readonly name: string; readonly hash?: string };

export interface SigningKey {
  readonly key: webcrypto.CryptoKey;
  readonly algorithm: SigningAlgorithm;
}

export function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  cryptoProvider.set(webcrypto);
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** Returns the key as PEM (PKCS #8). */
export async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  const bytes = await webcrypto.subtle.exportKey('pkcs8', key);
  return `${PemConverter.encode(bytes, 'PRIVATE KEY')}\n`;
}

/** Imports a PEM key (PKCS #1, SEC 1 or PKCS #8) to sign with. Throws if it cannot sign. */
export async function signingKeyOf(keyPem: string): Promise<SigningKey> {
  cryptoProvider.set(webcrypto);
  const key = createPrivateKey(keyPem);
  const chosen = algorithmOf(key);
  const bytes = key.export({ format: 'der', type: 'pkcs8' });
  return {
    key: await webcrypto.subtle.importKey('pkcs8', bytes, chosen, false, ['sign']),
    algorithm: chosen,
  };
}

/** As `signingKeyOf`, with the public key, for requests that are signed with their own key. */
export async function keyPairOf(
  keyPem: string,
): Promise<{ readonly keys: webcrypto.CryptoKeyPair; readonly algorithm: SigningAlgorithm }> {
  const { key: privateKey, algorithm: chosen } = await signingKeyOf(keyPem);
  const spki = createPublicKey(keyPem).export({ format: 'der', type: 'spki' });
  const publicKey = await webcrypto.subtle.importKey('spki', spki, chosen, true, ['verify']);
  return { keys: { privateKey, publicKey }, algorithm: chosen };
}

/** 127 random bits, positive and of fixed length, in hexadecimal. */
export function newSerialNumber(): string {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  return serial.toString('hex');
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): SigningAlgorithm {
  if (asymmetricKeyType === 'rsa') return { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  if (asymmetricKeyType === 'ed25519') return { name: 'Ed25519' };
  const curve = curves[asymmetricKeyDetails?.namedCurve ?? ''];
  if (asymmetricKeyType === 'ec' && curve) return { name: 'ECDSA', ...curve };
  throw new Error(
    `keys of type ${asymmetricKeyType} ${asymmetricKeyDetails?.namedCurve ?? ''} cannot sign: use RSA, P-256, P-384, P-521 or Ed25519`,
  );
}

const curves: Readonly<Record<string, { readonly namedCurve: string; readonly hash: string }>> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
};
