/** The entry as the store itself keeps it, and the splice of its revision. */
import { crc32c } from '@orch/raft';
import type { Entry, Revision } from '../versioned-store.js';

export class StoredEntry implements Entry {
  derived: unknown = undefined;

  constructor(
    readonly key: string,
    readonly bytes: Buffer,
    readonly createRevision: Revision,
    readonly revision: Revision,
    /** Position within its commit: with the revision the name of this version. */
    readonly position: number,
    /** Where the decimal revision stands in `bytes`; 0 when it is not in there. */
    readonly revisionOffset: number,
    /** In the store's time; 0: never. */
    readonly expiresAtMs: number,
    /** CRC32C of `bytes`. */
    readonly checksum: number = crc32c(bytes),
  ) {}
}

/**
 * A copy of `bytes` with the decimal revision inserted at `offset`, replacing `replacedBytes` bytes
 * there. Offset 0: a plain copy. The copy owns its memory: a slice of a pooled or received buffer
 * would keep all of that alive.
 */
export function spliceRevision(
  bytes: Buffer,
  offset: number,
  revision: Revision,
  replacedBytes = 0,
): Buffer {
  if (offset === 0) {
    const copy = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(copy);
    return copy;
  }
  const decimal = String(revision);
  const copy = Buffer.allocUnsafeSlow(bytes.length + decimal.length - replacedBytes);
  bytes.copy(copy, 0, 0, offset);
  copy.write(decimal, offset, 'latin1');
  bytes.copy(copy, offset + decimal.length, offset + replacedBytes);
  return copy;
}
