/**
 * An entry in memory and its value in etcd: the payload without the revision, then the offset of
 * the revision (4 bytes, big-endian) and one byte that names this format. Readers insert the
 * revision, which is that of the key in etcd.
 */
import { spliceRevision } from '../../core/stored-entry.js';
import { type Entry, type Revision, StoreError } from '../../versioned-store.js';

const trailerBytes = 5;
/** No text ends in this byte, so that a value of another program is detected. */
const entryFormat = 0x01;

/** A payload without the revision and the offset of the revision; 0: none. */
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
    /** Offset of the decimal revision in `bytes`; 0 if `bytes` does not contain it. */
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

  /** Returns the last version for watches of its deletion: the same bytes with that revision. */
  deletedAt(revision: Revision): EtcdEntry {
    const { key, createRevision, revisionOffset } = this;
    const replacedBytes = String(this.revision).length;
    const bytes = spliceRevision(this.bytes, revisionOffset, revision, replacedBytes);
    return new EtcdEntry(key, bytes, createRevision, revision, revisionOffset);
  }
}

/** Returns a copy. */
export function encodeValue({ payload, revisionOffset }: Unspliced): Buffer {
  const value = Buffer.allocUnsafeSlow(payload.length + trailerBytes);
  payload.copy(value);
  value.writeUInt32BE(revisionOffset, payload.length);
  value[payload.length + 4] = entryFormat;
  return value;
}

/** Returns a view. Throws StoreError `Corrupt` for a value not written by `encodeValue`. */
export function decodeValue(key: string, value: Buffer): Unspliced {
  const length = value.length - trailerBytes;
  const revisionOffset = length < 0 ? 0 : value.readUInt32BE(length);
  if (length < 0 || value[length + 4] !== entryFormat || revisionOffset > length) {
    throw new StoreError(
      'Corrupt',
      `the value of ${JSON.stringify(key)} in etcd was not written by this store: remove the key, or give the store a prefix of its own`,
    );
  }
  return { payload: value.subarray(0, length), revisionOffset };
}
