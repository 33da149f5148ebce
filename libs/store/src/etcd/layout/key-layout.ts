/**
 * The layout of the store's keys and revisions in etcd. `<prefix>/<key>` has the entries.
 * `<prefix>.final/<n>` has the last version of a deleted key if it differs from the stored one,
 * written in the same transaction: deletions of etcd carry no value for watches.
 *
 * etcd orders keys by byte, the store by UTF-16 code unit. Both orders agree except for characters
 * beyond the first 65,536, whose surrogates are therefore encoded separately.
 *
 * A new etcd is at revision 1 and its first change creates revision 2; the store counts from 0.
 */
import type { Revision } from '../../versioned-store.js';

/**
 * The key by which all API servers on one etcd, whatever their prefix, decide who compacts: etcd
 * compacts as a whole. Upstream API servers use the same name.
 */
export const compactionKey = Buffer.from('compact_rev_key');

export interface KeyRange {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

/** Every key, also of other programs. */
export const allKeys: KeyRange = { key: Buffer.from([0]), rangeEnd: Buffer.from([0]) };

const surrogate = /[\ud800-\udfff]/;

export function toStoreRevision(etcdRevision: number): Revision {
  return Math.max(0, etcdRevision - 1) as Revision;
}

export function toEtcdRevision(revision: number): number {
  return revision + 1;
}

export class KeyLayout {
  /** All keys of this store: entries and final versions. */
  readonly own: KeyRange;
  private readonly entryPrefix: Buffer;
  private readonly finals: Buffer;

  constructor(prefix: string) {
    this.entryPrefix = Buffer.from(`${prefix}/`);
    this.finals = Buffer.from(`${prefix}.final/`);
    // '.' sorts right before '/', and '0' right after it.
    this.own = { key: this.finals, rangeEnd: Buffer.from(`${prefix}0`) };
  }

  entryKey(key: string): Buffer {
    return Buffer.concat([this.entryPrefix, encodeText(key)]);
  }

  finalKey(position: number): Buffer {
    return Buffer.concat([this.finals, Buffer.from(String(position))]);
  }

  /** Returns the store's key of a key in etcd; undefined if it is not an entry. */
  keyOf(bytes: Buffer): string | undefined {
    return startsWith(bytes, this.entryPrefix)
      ? decodeText(bytes.subarray(this.entryPrefix.length))
      : undefined;
  }

  isFinal(bytes: Buffer): boolean {
    return startsWith(bytes, this.finals);
  }

  /** Returns the range of entries whose key starts with `prefix` and sorts after `startAfter`. */
  entries(prefix: string, startAfter?: string): KeyRange {
    const low = this.entryKey(prefix);
    const after =
      startAfter === undefined ? low : Buffer.concat([this.entryKey(startAfter), Buffer.from([0])]);
    return { key: Buffer.compare(after, low) > 0 ? after : low, rangeEnd: bytesAfterPrefix(low) };
  }
}

/** Encodes a final version: its key, then its value. */
export function encodeFinal(key: string, value: Buffer): Buffer {
  const name = Buffer.from(key);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(name.length);
  return Buffer.concat([length, name, value]);
}

export function decodeFinal(bytes: Buffer): { readonly key: string; readonly value: Buffer } {
  const end = 4 + bytes.readUInt32BE(0);
  return { key: bytes.toString('utf8', 4, end), value: bytes.subarray(end) };
}

function startsWith(bytes: Buffer, prefix: Buffer): boolean {
  return (
    bytes.length > prefix.length && bytes.compare(prefix, 0, prefix.length, 0, prefix.length) === 0
  );
}

/** Returns the least key after all keys with this prefix, which does not end in 0xff. */
function bytesAfterPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  const last = end.length - 1;
  end[last] = end[last]! + 1;
  return end;
}

function encodeText(text: string): Buffer {
  if (!surrogate.test(text)) return Buffer.from(text);
  const parts = text.split('').map((unit) => {
    const code = unit.charCodeAt(0);
    if (!surrogate.test(unit)) return Buffer.from(unit);
    return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]);
  });
  return Buffer.concat(parts);
}

function decodeText(bytes: Buffer): string {
  let text = '';
  let from = 0;
  // A surrogate starts with 0xed and a byte from 0xa0 on, like no other character in UTF-8.
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    if (bytes[at + 1]! < 0xa0) continue;
    const code = 0xd000 | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f);
    text += bytes.toString('utf8', from, at) + String.fromCharCode(code);
    from = at + 3;
    at += 2;
  }
  return text + bytes.toString('utf8', from);
}
