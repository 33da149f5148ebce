/**
 * Envelope encryption: each payload has a data key of its own, which a key management service
 * encrypts: length and bytes of the encrypted data key, then the payload in AES-GCM. Data keys are
 * cached by their encrypted form, and one call serves all readers that wait for the same data key.
 */
import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { encryptedDataKeyBytesMax } from '../limits.js';
import { AesGcmCipher } from './aes-gcm.js';
import { type Cipher, DecryptionError, tooShort } from './cipher.js';
import { type EncryptionObserver, unobservedEncryption } from './encryption-observer.js';
import { KmsError } from './kms-error.js';

/** Encrypts data keys. Rejects with KmsError. */
export interface KeyManagementService {
  encrypt(dataKey: Buffer): Promise<Buffer>;
  decrypt(encryptedDataKey: Buffer): Promise<Buffer>;
}

const dataKeyBytes = 32;
const lengthBytes = 2;

export class EnvelopeCipher implements Cipher {
  private readonly cache: LRUCache<string, AesGcmCipher> | undefined;
  private readonly inFlight = new Map<string, Promise<AesGcmCipher>>();

  /** `cachedKeysMax`: a negative number disables the cache. */
  constructor(
    private readonly service: KeyManagementService,
    private readonly cachedKeysMax: number,
    private readonly observer: EncryptionObserver = unobservedEncryption,
  ) {
    this.cache = cachedKeysMax > 0 ? new LRUCache({ max: cachedKeysMax }) : undefined;
  }

  async encrypt(payload: Buffer, context: Buffer): Promise<Buffer> {
    const dataKey = this.newDataKey();
    this.observer.dataKeyUsed('to_storage');
    const encryptedKey = await this.service.encrypt(dataKey);
    if (encryptedKey.length === 0 || encryptedKey.length > encryptedDataKeyBytesMax) {
      throw new KmsError(
        `the encrypted data key has ${encryptedKey.length} bytes, the limit is ${encryptedDataKeyBytesMax}`,
      );
    }
    const cipher = new AesGcmCipher(dataKey);
    this.keep(nameOf(encryptedKey), cipher);
    const length = Buffer.alloc(lengthBytes);
    length.writeUInt16BE(encryptedKey.length);
    return Buffer.concat([length, encryptedKey, cipher.encrypt(payload, context)]);
  }

  decrypt(ciphertext: Buffer, context: Buffer): Buffer | Promise<Buffer> {
    if (ciphertext.length < lengthBytes) throw tooShort();
    const keyEnd = lengthBytes + ciphertext.readUInt16BE();
    if (ciphertext.length <= keyEnd) throw tooShort();
    const encryptedKey = ciphertext.subarray(lengthBytes, keyEnd);
    const encrypted = ciphertext.subarray(keyEnd);
    this.observer.dataKeyUsed('from_storage');
    const cached = this.cache?.get(nameOf(encryptedKey));
    if (cached) return cached.decrypt(encrypted, context);
    this.observer.dataKeyMissed();
    return this.load(encryptedKey).then((cipher) => cipher.decrypt(encrypted, context));
  }

  private load(encryptedKey: Buffer): Promise<AesGcmCipher> {
    const name = nameOf(encryptedKey);
    const running = this.inFlight.get(name);
    if (running) return running;
    const started = this.request(encryptedKey, name).finally(() => this.inFlight.delete(name));
    this.inFlight.set(name, started);
    return started;
  }

  private async request(encryptedKey: Buffer, name: string): Promise<AesGcmCipher> {
    const dataKey = await this.service.decrypt(encryptedKey);
    if (dataKey.length !== dataKeyBytes) {
      throw new DecryptionError(`the data key has ${dataKey.length} bytes, not ${dataKeyBytes}`);
    }
    const cipher = new AesGcmCipher(dataKey);
    this.keep(name, cipher);
    return cipher;
  }

  private newDataKey(): Buffer {
    const startMs = performance.now();
    try {
      const dataKey = randomBytes(dataKeyBytes);
      this.observer.dataKeyGenerated((performance.now() - startMs) / 1_000);
      return dataKey;
    } catch (error) {
      this.observer.dataKeyGenerationFailed();
      throw error;
    }
  }

  private keep(name: string, cipher: AesGcmCipher): void {
    if (!this.cache) return;
    this.cache.set(name, cipher);
    this.observer.dataKeyCached(this.cache.size / this.cachedKeysMax);
  }
}

function nameOf(encryptedKey: Buffer): string {
  return encryptedKey.toString('base64');
}
