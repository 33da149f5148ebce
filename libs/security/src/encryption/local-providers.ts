/** The providers whose keys are in the configuration file. */
import { AesCbcCipher } from './aes-cbc.js';
import { AesGcmCipher } from './aes-gcm.js';
import type { LocalCipher } from './cipher.js';
import type { FieldReader } from './field-reader.js';
import type { EncryptionKey } from './resource-encryption.js';
import { SecretboxCipher } from './secretbox.js';

export const localKinds = ['aescbc', 'aesgcm', 'secretbox'] as const;
type LocalKind = (typeof localKinds)[number];

interface LocalProvider {
  readonly keyBytes: readonly number[];
  readonly cipherOf: (key: Buffer) => LocalCipher;
}

const aesKeyBytes = [16, 24, 32];

const providers: Record<LocalKind, LocalProvider> = {
  aescbc: { keyBytes: aesKeyBytes, cipherOf: (key) => new AesCbcCipher(key) },
  aesgcm: { keyBytes: aesKeyBytes, cipherOf: (key) => new AesGcmCipher(key) },
  secretbox: { keyBytes: [32], cipherOf: (key) => new SecretboxCipher(key) },
};

/** The keys of a provider. Problems are reported to `fields`, without the secrets. */
export function localKeys(
  fields: FieldReader,
  kind: LocalKind,
  value: unknown,
  fieldPath: string,
): EncryptionKey[] {
  const keys = fields.listOf(fields.mapOf(value, fieldPath, ['keys']).keys, `${fieldPath}.keys`);
  if (keys.length === 0) fields.report(`${fieldPath}.keys: at least one key is required`);
  return keys.flatMap((key, index) => {
    const keyPath = `${fieldPath}.keys[${index}]`;
    const { name, secret } = fields.mapOf(key, keyPath, ['name', 'secret']);
    const keyName = fields.nameOf(name, `${keyPath}.name`);
    const bytes = secretOf(fields, secret, `${keyPath}.secret`);
    if (!bytes) return [];
    const { keyBytes, cipherOf } = providers[kind];
    if (keyBytes.includes(bytes.length)) return [{ kind, name: keyName, cipher: cipherOf(bytes) }];
    fields.report(
      `${keyPath}.secret: secret is not of the expected length, got ${bytes.length}, expected one of [${keyBytes.join(' ')}]`,
    );
    return [];
  });
}

function secretOf(fields: FieldReader, secret: unknown, fieldPath: string): Buffer | undefined {
  if (typeof secret !== 'string' || secret === '') {
    fields.report(`${fieldPath}: secret is a mandatory field for a key`);
    return undefined;
  }
  const bytes = Buffer.from(secret, 'base64');
  // Node ignores characters that are not base64.
  if (bytes.toString('base64') === secret.trim()) return bytes;
  fields.report(`${fieldPath}: secrets must be base64 encoded`);
  return undefined;
}
