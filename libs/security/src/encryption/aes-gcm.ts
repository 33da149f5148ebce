/**
 * AES-GCM: nonce, ciphertext, tag; the context is authenticated. The nonce is random, so a key must
 * not encrypt more than some 2^32 payloads: rotate it before.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { DecryptionError, type LocalCipher, tooShort } from './cipher.js';

const nonceBytes = 12;
const tagBytes = 16;

export class AesGcmCipher implements LocalCipher {
  private readonly algorithm: 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm';

  /** `key`: 16, 24 or 32 bytes. */
  constructor(private readonly key: Buffer) {
    this.algorithm = `aes-${(key.length * 8) as 128 | 192 | 256}-gcm`;
  }

  encrypt(payload: Buffer, context: Buffer): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv(this.algorithm, this.key, nonce, { authTagLength: tagBytes });
    cipher.setAAD(context);
    return Buffer.concat([nonce, cipher.update(payload), cipher.final(), cipher.getAuthTag()]);
  }

  decrypt(ciphertext: Buffer, context: Buffer): Buffer {
    if (ciphertext.length < nonceBytes + tagBytes) throw tooShort();
    const end = ciphertext.length - tagBytes;
    const decipher = createDecipheriv(
      this.algorithm,
      this.key,
      ciphertext.subarray(0, nonceBytes),
      { authTagLength: tagBytes },
    );
    decipher.setAAD(context);
    decipher.setAuthTag(ciphertext.subarray(end));
    try {
      return Buffer.concat([
        decipher.update(ciphertext.subarray(nonceBytes, end)),
        decipher.final(),
      ]);
    } catch (error) {
      throw new DecryptionError('cipher: message authentication failed', { cause: error });
    }
  }
}
