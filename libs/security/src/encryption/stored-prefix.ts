/**
 * The start of encrypted data: the brand, the provider with its version, and the name of the key,
 * each followed by a colon. Plaintext objects are JSON and cannot start with it.
 */
import { dialect } from '@orch/component';

export type ProviderKind = 'aescbc' | 'aesgcm' | 'secretbox' | 'kms';

let encryptedPrefix: Buffer | undefined;

/** `<word>:enc:`, where the word is the first label of the domain of groups. */
function startOfEncrypted(): Buffer {
  encryptedPrefix ??= Buffer.from(`${dialect().groupDomain.split('.')[0]}:enc:`);
  return encryptedPrefix;
}

/** Start of the data of all keys of a kind of provider. */
export function providerPrefix(kind: ProviderKind): Buffer {
  return Buffer.concat([startOfEncrypted(), Buffer.from(`${kind}:v1:`)]);
}

/** `keyName`: for `kms` the name of the provider. */
export function keyPrefix(kind: ProviderKind, keyName: string): Buffer {
  return Buffer.concat([providerPrefix(kind), Buffer.from(`${keyName}:`)]);
}

export function isEncrypted(data: Buffer): boolean {
  const start = encryptedPrefix ?? startOfEncrypted();
  // Most data is JSON: the first byte decides.
  return data[0] === start[0] && hasPrefix(data, start);
}

export function hasPrefix(data: Buffer, prefix: Buffer): boolean {
  return (
    data.length >= prefix.length && data.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
  );
}
