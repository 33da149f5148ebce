import { describe, expect, it } from 'vitest';
import { AesCbcCipher } from './aes-cbc.js';
import { AesGcmCipher } from './aes-gcm.js';
import { DecryptionError, type LocalCipher } from './cipher.js';
import { SecretboxCipher } from './secretbox.js';

const hex = (text: string) => Buffer.from(text, 'hex');
const key = (byteCount: number, first = 0) =>
  Buffer.from(Array.from({ length: byteCount }, (_, index) => (first + index) % 256));
const context = Buffer.from('core/secrets/ns/a');

/** IV or nonce, ciphertext and tag of `a secret value`, computed with Node's crypto. */
const cbcKnown = [
  [16, 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff54b6279f3bf4b916b46b4f8579e80231'],
  [24, 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeffd04ca20b79b822f0face4742771068a3'],
  [32, 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeffab06c6b8d1f59f25d21683d9cdd0c795'],
] as const;
const gcmKnown = [
  [16, 'a0a1a2a3a4a5a6a7a8a9aaabcba64bde1dfb567eaa0ed46c3377ea76a1dd79f3a03025f7917cde8a19e5'],
  [24, 'a0a1a2a3a4a5a6a7a8a9aaab5a42cd079a217d07de43dead9ab891f8676e5ad6e997be78fe926a3a98e0'],
  [32, 'a0a1a2a3a4a5a6a7a8a9aaab87380f4826b967cb4213e6bf721f2347e8eea109e134489cff8a7ca0f1e1'],
] as const;

describe('AesCbcCipher', () => {
  it.each(cbcKnown)('decrypts a known ciphertext with a key of %i bytes', (keyBytes, known) => {
    const payload = new AesCbcCipher(key(keyBytes)).decrypt(hex(known));
    expect(payload.toString()).toBe('a secret value');
  });

  it('rejects a ciphertext that is not a multiple of the block size', () => {
    expect(() => new AesCbcCipher(key(32)).decrypt(Buffer.alloc(31))).toThrow(
      'the stored data was not a multiple of the block size',
    );
  });

  it('rejects a ciphertext whose last block was changed', () => {
    const known = hex(cbcKnown[0][1]);
    known[15]! ^= 1;
    const shortened = known.subarray(0, 32);
    shortened[31]! ^= 0x80;
    expect(() => new AesCbcCipher(key(16)).decrypt(shortened)).toThrow(DecryptionError);
  });
});

describe('AesGcmCipher', () => {
  it.each(gcmKnown)('decrypts a known ciphertext with a key of %i bytes', (keyBytes, known) => {
    const payload = new AesGcmCipher(key(keyBytes)).decrypt(hex(known), context);
    expect(payload.toString()).toBe('a secret value');
  });

  it('rejects the ciphertext of another object', () => {
    expect(() =>
      new AesGcmCipher(key(32)).decrypt(hex(gcmKnown[2][1]), Buffer.from('core/secrets/ns/b')),
    ).toThrow('message authentication failed');
  });
});

describe('SecretboxCipher', () => {
  it('decrypts the known ciphertext of the NaCl test suite', () => {
    const nonce = '69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37';
    const box =
      'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5';
    const cipher = new SecretboxCipher(
      hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389'),
    );
    expect(cipher.decrypt(hex(nonce + box)).toString('hex')).toBe(
      'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705',
    );
  });
});

const ciphers: readonly (readonly [string, (key: Buffer) => LocalCipher])[] = [
  ['AesCbcCipher', (secret) => new AesCbcCipher(secret)],
  ['AesGcmCipher', (secret) => new AesGcmCipher(secret)],
  ['SecretboxCipher', (secret) => new SecretboxCipher(secret)],
];

describe.each(ciphers)('%s', (name, create) => {
  const cipher = create(key(32));

  it.each([0, 1, 15, 16, 17, 5_000])('decrypts its own ciphertext of %i bytes', (byteCount) => {
    const payload = key(byteCount, 7);
    const first = cipher.encrypt(payload, context);
    expect(cipher.decrypt(first, context)).toEqual(payload);
    expect(cipher.encrypt(payload, context)).not.toEqual(first);
  });

  it('rejects data that is too short', () => {
    expect(() => cipher.decrypt(Buffer.alloc(11), context)).toThrow(
      'the stored data was shorter than the required size',
    );
  });

  if (name === 'AesCbcCipher') return;

  it('rejects a ciphertext with any byte changed, and that of another key', () => {
    const encrypted = cipher.encrypt(Buffer.from('a secret value'), context);
    for (let index = 0; index < encrypted.length; index += 1) {
      const changed = Buffer.from(encrypted);
      changed[index]! ^= 1;
      expect(() => cipher.decrypt(changed, context)).toThrow(DecryptionError);
    }
    expect(() => create(key(32, 1)).decrypt(encrypted, context)).toThrow(DecryptionError);
  });
});
