/**
 * Where the store's keys are in etcd, and how its revisions are counted. `<prefix>/<key>` holds the
 * entries; `<prefix>.final/<n>` holds, written in the same transaction, the last version of a deleted
 * key when it differs from the one stored, for watchers: etcd's deletions carry no value.
 *
 * etcd orders keys by byte, the store by UTF-16 code unit; both agree but for characters beyond the
 * first 65,536, whose two halves are therefore encoded one by one.
 *
 * A new etcd is at revision 1 and its first change makes 2; the store counts from 0.
 */
import type { Revision } from '../versioned-store.js';

/** What API servers on one etcd, whatever their prefix, agree by on who compacts: etcd compacts as a whole.
 *  The name is the one that other API servers use for it. */
export const COMPACTION_KEY = Buffer.from('compact_rev_key');

export interface KeyRange {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

/** Every key there is, of others too. */
export const ALL_KEYS: KeyRange = { key: Buffer.from([0]), rangeEnd: Buffer.from([0]) };

const SURROGATE = /[\ud800-\udfff]/;

export function toStoreRevision(etcdRevision: number): Revision {
  return Math.max(0, etcdRevision - 1) as Revision;
}

export function toEtcdRevision(revision: number): number {
  return revision + 1;
}

export class KeyLayout {
  /** Everything of this store: entries and final versions. */
  readonly own: KeyRange;
  readonly #entries: Buffer;
  readonly #finals: Buffer;

  constructor(prefix: string) {
    this.#entries = Buffer.from(`${prefix}/`);
    this.#finals = Buffer.from(`${prefix}.final/`);
    // '.' sorts right before '/', and '0' right after it.
    this.own = { key: this.#finals, rangeEnd: Buffer.from(`${prefix}0`) };
  }

  entryKey(key: string): Buffer {
    return Buffer.concat([this.#entries, encodeText(key)]);
  }

  finalKey(position: number): Buffer {
    return Buffer.concat([this.#finals, Buffer.from(String(position))]);
  }

  /** The store's key of a key in etcd; undefined when it is not that of an entry. */
  keyOf(bytes: Buffer): string | undefined {
    return startsWith(bytes, this.#entries)
      ? decodeText(bytes.subarray(this.#entries.length))
      : undefined;
  }

  isFinal(bytes: Buffer): boolean {
    return startsWith(bytes, this.#finals);
  }

  /** The entries whose key starts with `prefix` and is greater than `startAfter`. */
  entries(prefix: string, startAfter?: string): KeyRange {
    const low = this.entryKey(prefix);
    const after =
      startAfter === undefined ? low : Buffer.concat([this.entryKey(startAfter), Buffer.from([0])]);
    return { key: Buffer.compare(after, low) > 0 ? after : low, rangeEnd: bytesAfterPrefix(low) };
  }
}

/** A final version as stored: the key it is of, then its value. */
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

/** The least key that is greater than every key with this prefix, which does not end in 0xff. */
function bytesAfterPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  const last = end.length - 1;
  end[last] = end[last]! + 1;
  return end;
}

function encodeText(text: string): Buffer {
  if (!SURROGATE.test(text)) return Buffer.from(text);
  const parts = text.split('').map((unit) => {
    const code = unit.charCodeAt(0);
    if (!SURROGATE.test(unit)) return Buffer.from(unit);
    return Buffer.from([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]);
  });
  return Buffer.concat(parts);
}

function decodeText(bytes: Buffer): string {
  let text = '';
  let from = 0;
  // A half begins with 0xed and a byte from 0xa0 on, which nothing else in UTF-8 does.
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    if (bytes[at + 1]! < 0xa0) continue;
    const code = 0xd000 | ((bytes[at + 1]! & 0x3f) << 6) | (bytes[at + 2]! & 0x3f);
    text += bytes.toString('utf8', from, at) + String.fromCharCode(code);
    from = at + 3;
    at += 2;
  }
  return text + bytes.toString('utf8', from);
}
