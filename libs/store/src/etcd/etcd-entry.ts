/**
 * An entry as it is kept of etcd, and the value that stands for it there: the payload without the
 * revision, then the offset at which the revision belongs (4 bytes, big-endian) and one byte that
 * names this format. The revision is spliced in by whoever reads, from the key's own revision.
 */
import { spliceRevision } from '../core/stored-entry.js';
import { type Entry, type Revision, StoreError } from '../versioned-store.js';

const TRAILER_BYTES = 5;
/** No text ends in it, so that a value written by somebody else is noticed. */
const FORMAT = 0x01;

/** A payload as the caller gave it and where the revision is to go; 0: nowhere. */
export interface Unspliced {
  readonly payload: Buffer;
  readonly revisionOffset: number;
}

export class EtcdEntry implements Entry {
  derived: unknown = undefined;

  constructor(
    readonly key: string,
    readonly bytes: Buffer,
    readonly createRevision: Revision,
    readonly revision: Revision,
    /** Where the decimal revision stands in `bytes`; 0 when it is not in there. */
    readonly revisionOffset: number,
  ) {}

  static of(
    key: string,
    { payload, revisionOffset }: Unspliced,
    createRevision: Revision,
    revision: Revision,
  ): EtcdEntry {
    const bytes = spliceRevision(payload, revisionOffset, revision);
    return new EtcdEntry(key, bytes, createRevision, revision, revisionOffset);
  }

  /** The last version that watchers get for its deletion: the same bytes, with that revision. */
  deletedAt(revision: Revision): EtcdEntry {
    const { key, createRevision, revisionOffset } = this;
    const replacedBytes = String(this.revision).length;
    const bytes = spliceRevision(this.bytes, revisionOffset, revision, replacedBytes);
    return new EtcdEntry(key, bytes, createRevision, revision, revisionOffset);
  }
}

/** A copy. */
export function encodeValue({ payload, revisionOffset }: Unspliced): Buffer {
  const value = Buffer.allocUnsafeSlow(payload.length + TRAILER_BYTES);
  payload.copy(value);
  value.writeUInt32BE(revisionOffset, payload.length);
  value[payload.length + 4] = FORMAT;
  return value;
}

/** A view. Throws StoreError `Corrupt` for what was not written by `encodeValue`. */
export function decodeValue(key: string, value: Buffer): Unspliced {
  const length = value.length - TRAILER_BYTES;
  const revisionOffset = length < 0 ? 0 : value.readUInt32BE(length);
  if (length < 0 || value[length + 4] !== FORMAT || revisionOffset > length) {
    throw new StoreError(
      'Corrupt',
      `the value of ${JSON.stringify(key)} in etcd was not written by this store: remove the key, or give the store a prefix of its own`,
    );
  }
  return { payload: value.subarray(0, length), revisionOffset };
}
