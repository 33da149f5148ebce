/**
 * The plaintext of an encrypted entry: a header, then the bytes of the object without a revision.
 *
 *   u32 offset at which the revision is inserted, 0: none | u32 CRC32 of the rest and the offset
 *
 * The checksum detects a wrong key and damage where the mode does not authenticate.
 */
import { crc32 } from 'node:zlib';
import { DecryptionError } from '@orch/security';
import type { Revision } from '@orch/store';

const headerBytes = 8;

export function payloadOf(bytes: Buffer, revisionOffset: number): Buffer {
  const payload = Buffer.allocUnsafe(headerBytes + bytes.length);
  payload.writeUInt32BE(revisionOffset);
  bytes.copy(payload, headerBytes);
  payload.writeUInt32BE(checksumOf(payload), 4);
  return payload;
}

/** The bytes of the object with its revision. Throws DecryptionError. */
export function bytesOf(payload: Buffer, revision: Revision): Buffer {
  if (payload.length < headerBytes || payload.readUInt32BE(4) !== checksumOf(payload)) {
    throw new DecryptionError('the decrypted data does not match its checksum');
  }
  const offset = payload.readUInt32BE();
  const bytes = payload.subarray(headerBytes);
  if (offset === 0) return bytes;
  const decimal = Buffer.from(String(revision));
  return Buffer.concat([bytes.subarray(0, offset), decimal, bytes.subarray(offset)]);
}

function checksumOf(payload: Buffer): number {
  return crc32(payload.subarray(headerBytes), payload.readUInt32BE());
}
