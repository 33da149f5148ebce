/** XSalsa20-Poly1305: nonce, then the box. Authenticated, but not bound to the context. */
import { randomBytes } from 'node:crypto';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import { DecryptionError, type LocalCipher, tooShort } from './cipher.js';

const nonceBytes = 24;
const tagBytes = 16;

export class SecretboxCipher implements LocalCipher {
  /** `key`: 32 bytes. */
  constructor(private readonly key: Buffer) {}

  encrypt(payload: Buffer): Buffer {
    const nonce = randomBytes(nonceBytes);
    return Buffer.concat([nonce, xsalsa20poly1305(this.key, nonce).encrypt(payload)]);
  }

  decrypt(ciphertext: Buffer): Buffer {
    if (ciphertext.length < nonceBytes + tagBytes) throw tooShort();
    const box = xsalsa20poly1305(this.key, ciphertext.subarray(0, nonceBytes));
    let payload: Uint8Array;
    try {
      payload = box.decrypt(ciphertext.subarray(nonceBytes));
    } catch (error) {
      throw new DecryptionError('the stored data failed authentication', { cause: error });
    }
    return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  }
}
