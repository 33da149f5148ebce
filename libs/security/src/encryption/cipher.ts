/**
 * A key with its mode: encrypts the payloads of one key of a provider. The context is the key of
 * the object; modes with additional authenticated data bind the ciphertext to it, so that a
 * ciphertext copied to another object does not decrypt.
 */

export interface Cipher {
  encrypt(payload: Buffer, context: Buffer): Buffer | Promise<Buffer>;
  /** Throws or rejects with DecryptionError or KmsError. */
  decrypt(ciphertext: Buffer, context: Buffer): Buffer | Promise<Buffer>;
}

/** A cipher whose key is in this process. */
export interface LocalCipher extends Cipher {
  encrypt(payload: Buffer, context: Buffer): Buffer;
  decrypt(ciphertext: Buffer, context: Buffer): Buffer;
}

/** The ciphertext is damaged, or belongs to another key or another object. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
  readonly code = 'decryption-failed';
}

export function tooShort(): DecryptionError {
  return new DecryptionError('the stored data was shorter than the required size');
}
