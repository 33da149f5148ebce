/**
 * AES-CBC with PKCS #7 padding: IV, then the blocks. Not authenticated: a change of the ciphertext
 * is detected only by the padding and by the checksum in the payload.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { DecryptionError, type LocalCipher, tooShort } from './cipher.js';

const blockBytes = 16;

export class AesCbcCipher implements LocalCipher {
  private readonly algorithm: string;

  /** `key`: 16, 24 or 32 bytes. */
  constructor(private readonly key: Buffer) {
    this.algorithm = `aes-${key.length * 8}-cbc`;
  }

  encrypt(payload: Buffer): Buffer {
    const iv = randomBytes(blockBytes);
    const cipher = createCipheriv(this.algorithm, this.key, iv);
    return Buffer.concat([iv, cipher.update(payload), cipher.final()]);
  }

  decrypt(ciphertext: Buffer): Buffer {
    if (ciphertext.length < blockBytes) throw tooShort();
    const blocks = ciphertext.subarray(blockBytes);
    if (blocks.length % blockBytes !== 0) {
      throw new DecryptionError('the stored data was not a multiple of the block size');
    }
    const decipher = createDecipheriv(this.algorithm, this.key, ciphertext.subarray(0, blockBytes));
    try {
      return Buffer.concat([decipher.update(blocks), decipher.final()]);
    } catch (error) {
      throw new DecryptionError('invalid padding on input', { cause: error });
    }
  }
}
