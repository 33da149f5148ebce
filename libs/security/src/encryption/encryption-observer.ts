/** What metrics record of encryption at rest. */

export type TransformationType = 'from_storage' | 'to_storage';

export interface EncryptionObserver {
  /**
   * `prefix`: the start of the data of the provider; `unknown`: no provider reads it. `error`:
   * undefined if the transformation succeeded.
   */
  transformed(type: TransformationType, prefix: string, seconds: number, error?: unknown): void;
  dataKeyGenerated(seconds: number): void;
  dataKeyGenerationFailed(): void;
  /** A data key was used that a key management service protects. */
  dataKeyUsed(type: TransformationType): void;
  /** A data key was not cached. */
  dataKeyMissed(): void;
  /** `share`: the used part of the cache of data keys, up to 1. */
  dataKeyCached(share: number): void;
}

/** Records nothing. */
export const unobservedEncryption: EncryptionObserver = {
  transformed: () => undefined,
  dataKeyGenerated: () => undefined,
  dataKeyGenerationFailed: () => undefined,
  dataKeyUsed: () => undefined,
  dataKeyMissed: () => undefined,
  dataKeyCached: () => undefined,
};
