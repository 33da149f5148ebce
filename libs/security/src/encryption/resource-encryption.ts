/**
 * The providers of one resource, in the order of the configuration: the first key encrypts, all
 * decrypt. Invariant: data that the first key did not write is reported as stale.
 */
import { type Clock, systemClock } from '@orch/component';
import { type Cipher, DecryptionError } from './cipher.js';
import {
  type EncryptionObserver,
  type TransformationType,
  unobservedEncryption,
} from './encryption-observer.js';
import {
  hasPrefix,
  isEncrypted,
  keyPrefix,
  type ProviderKind,
  providerPrefix,
} from './stored-prefix.js';

export interface EncryptionKey {
  readonly kind: ProviderKind;
  readonly name: string;
  readonly cipher: Cipher;
}

/** `identity`: stores plaintext. */
export type ProviderKey = EncryptionKey | 'identity';

export interface DecryptedPayload {
  readonly payload: Buffer;
  readonly isStale: boolean;
}

interface PrefixedKey {
  readonly prefix: Buffer;
  /** The provider in metrics. */
  readonly label: string;
  readonly cipher: Cipher;
  readonly isFirst: boolean;
}

/** The words for a kind of provider in upstream's errors. */
const kindNames: Record<ProviderKind, string> = {
  aescbc: 'AES',
  aesgcm: 'AES-GCM',
  secretbox: 'secretbox',
  kms: 'KMS',
};

export class ResourceEncryption {
  /** How plaintext data of the resource is read. */
  readonly plaintext: 'refused' | 'stale' | 'current';
  private readonly keys: readonly PrefixedKey[];
  private readonly kinds: ReadonlySet<ProviderKind>;

  /** `providerKeys`: at least one. */
  constructor(
    providerKeys: readonly ProviderKey[],
    private readonly observer: EncryptionObserver = unobservedEncryption,
    private readonly clock: Pick<Clock, 'monotonicMs'> = systemClock,
  ) {
    const identityAt = providerKeys.indexOf('identity');
    this.plaintext = identityAt < 0 ? 'refused' : identityAt === 0 ? 'current' : 'stale';
    this.keys = providerKeys.flatMap((key, index) =>
      key === 'identity' ? [] : [prefixedKey(key, index === 0)],
    );
    this.kinds = new Set(providerKeys.flatMap((key) => (key === 'identity' ? [] : [key.kind])));
  }

  /**
   * Returns the data to store, and undefined if the first provider stores plaintext. `context` is
   * the key of the object. Rejects with KmsError.
   */
  encrypt(payload: Buffer, context: Buffer): Buffer | Promise<Buffer> | undefined {
    const [first] = this.keys;
    if (!first?.isFirst) return undefined;
    const encrypted = this.measured('to_storage', first.label, () =>
      first.cipher.encrypt(payload, context),
    );
    return encrypted instanceof Promise
      ? encrypted.then((ciphertext) => Buffer.concat([first.prefix, ciphertext]))
      : Buffer.concat([first.prefix, encrypted]);
  }

  /** Throws or rejects with DecryptionError or KmsError. */
  decrypt(data: Buffer, context: Buffer): DecryptedPayload | Promise<DecryptedPayload> {
    const key = this.keys.find(({ prefix }) => hasPrefix(data, prefix));
    const payload = this.measured('from_storage', key?.label ?? 'unknown', () => {
      if (!key) throw this.noKey(data);
      return key.cipher.decrypt(data.subarray(key.prefix.length), context);
    });
    const isStale = !key?.isFirst;
    return payload instanceof Promise
      ? payload.then((decrypted) => ({ payload: decrypted, isStale }))
      : { payload, isStale };
  }

  /** Runs the transformation, and records its duration and result. */
  private measured(
    type: TransformationType,
    label: string,
    transform: () => Buffer | Promise<Buffer>,
  ): Buffer | Promise<Buffer> {
    const startMs = this.clock.monotonicMs();
    const record = (error?: unknown) => {
      const seconds = (this.clock.monotonicMs() - startMs) / 1_000;
      this.observer.transformed(type, label, seconds, error);
    };
    const failed = (error: unknown): never => {
      record(error);
      throw error;
    };
    try {
      const result = transform();
      if (result instanceof Promise) {
        return result.then((bytes) => {
          record();
          return bytes;
        }, failed);
      }
      record();
      return result;
    } catch (error) {
      return failed(error);
    }
  }

  private noKey(data: Buffer): DecryptionError {
    for (const kind of this.kinds) {
      if (hasPrefix(data, providerPrefix(kind))) {
        return new DecryptionError(
          `no matching key was found for the provided ${kindNames[kind]} transformer`,
        );
      }
    }
    return noMatchingPrefix(isEncrypted(data));
  }
}

/** Metrics name the provider, not each key; services have their own series. */
function prefixedKey({ kind, name, cipher }: EncryptionKey, isFirst: boolean): PrefixedKey {
  const prefix = keyPrefix(kind, name);
  const label = kind === 'kms' ? prefix : providerPrefix(kind);
  return { prefix, label: label.toString(), cipher, isFirst };
}

/** No provider reads such data. */
export function noMatchingPrefix(isEncryptedData: boolean): DecryptionError {
  return new DecryptionError(
    isEncryptedData
      ? 'no matching prefix found: it is encrypted, and no configured provider reads it'
      : 'no matching prefix found: it is not encrypted, and the identity provider is not configured',
  );
}
