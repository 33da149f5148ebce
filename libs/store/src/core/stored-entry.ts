/** The store's own entry, and the insertion of a revision into its bytes. */
import { invariant } from '@orch/component';
import { crc32c } from '@orch/raft';
import type { Entry, Revision } from '../versioned-store.js';

export class StoredEntry implements Entry {
  derived: unknown = undefined;

  constructor(
    readonly key: string,
    readonly bytes: Buffer,
    readonly createRevision: Revision,
    readonly revision: Revision,
    /** Position within its commit; with the revision, the name of this version. */
    readonly position: number,
    /** Offset of the decimal revision in `bytes`; 0 if `bytes` does not contain it. */
    readonly revisionOffset: number,
    /** In the store's time; 0: never. */
    readonly expiresAtMs: number,
    /** CRC32C of `bytes`. */
    readonly checksum: number = crc32c(bytes),
  ) {}
}

/**
 * Returns a copy of `bytes` with the decimal revision inserted at `offset`, in place of
 * `replacedBytes` bytes there. Offset 0: a plain copy. The copy owns its memory, because a slice of
 * a pooled or received buffer would retain all of that buffer.
 */
export function spliceRevision(
  bytes: Buffer,
  offset: number,
  revision: Revision,
  replacedBytes = 0,
): Buffer {
  invariant(revision > 0, 'a revision below 1 is inserted into an object');
  invariant(offset >= 0 && offset + replacedBytes <= bytes.length, 'a revision is out of bounds');
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
