/**
 * Keys and records of the log database; `docs/store.md` has the table. Entries lie under `e` + index,
 * big-endian, so that the database's order is the log's. A record names the checksum of the entry before
 * and carries its own over that and everything else: it can be checked alone and as a link of the chain.
 * Facts are JSON behind a CRC32C over key and text: a good record in the wrong place is found as well.
 */
import { entryChecksum } from '../core/entry-checksum.js';
import type { Entry, EntryKind } from '../core/types.js';
import { crc32c } from '../crc32c.js';
import type { LogIndex } from '../replicated-log.js';
import type { Change } from './disk.js';

const ENTRY_PREFIX = 0x65; // e
const CONFIGURATION_PREFIX = 0x63; // c
const INDEX_KEY_BYTES = 9;
const CHECKSUM_BYTES = 4;
/** u32 checksum, u32 checksum of the entry before, u48 term, u8 kind, u32 length of the data. */
const ENTRY_HEADER_BYTES = 19;

export const IDENTITY_KEY = Buffer.from('h/identity');
export const START_KEY = Buffer.from('h/start');
export const HEAD_KEY = Buffer.from('h/head');
export const ADMITTED_KEY = Buffer.from('h/admitted');
export const PEERS_FROM = Buffer.from('p/');
export const PEERS_END = Buffer.from('p0');
export const ENTRIES_END = Buffer.of(ENTRY_PREFIX + 1);
export const CONFIGURATIONS_END = Buffer.of(CONFIGURATION_PREFIX + 1);

/** As stored; never given anew to another kind. */
const KIND_CODES: Readonly<Record<EntryKind, number>> = { command: 1, configuration: 2, empty: 3 };
const KINDS = new Map(
  Object.entries(KIND_CODES).map(([kind, code]) => [code, kind as EntryKind] as const),
);

export function entryKey(index: number): Buffer {
  return indexKey(ENTRY_PREFIX, index);
}

export function configurationKey(index: number): Buffer {
  return indexKey(CONFIGURATION_PREFIX, index);
}

export function indexOfKey(key: Buffer): LogIndex {
  return key.readUIntBE(3, 6) as LogIndex;
}

export function peerKey(member: string): Buffer {
  return Buffer.from(`p/${member}`);
}

export function memberOfPeerKey(key: Buffer): string {
  return key.toString('utf8', PEERS_FROM.length);
}

export function encodeEntry(previousChecksum: number, entry: Entry): Buffer {
  const { data } = entry;
  const record = Buffer.allocUnsafeSlow(ENTRY_HEADER_BYTES + data.length);
  record.writeUInt32BE(entry.checksum, 0);
  record.writeUInt32BE(previousChecksum, 4);
  record.writeUIntBE(entry.term, 8, 6);
  record[14] = KIND_CODES[entry.kind];
  record.writeUInt32BE(data.length, 15);
  record.set(data, ENTRY_HEADER_BYTES);
  return record;
}

export interface EntryRecord {
  readonly entry: Entry;
  /** Of the entry before. */
  readonly previousChecksum: number;
}

/** Undefined when the record is not what was written for this index. `data` is a part of `record`. */
export function decodeEntry(index: LogIndex, record: Buffer): EntryRecord | undefined {
  if (record.length < ENTRY_HEADER_BYTES) return undefined;
  const kind = KINDS.get(record[14]!);
  const data = record.subarray(ENTRY_HEADER_BYTES);
  if (kind === undefined || data.length !== record.readUInt32BE(15)) return undefined;
  const previousChecksum = record.readUInt32BE(4);
  const term = record.readUIntBE(8, 6);
  const checksum = entryChecksum(previousChecksum, term, index, kind, data);
  if (checksum !== record.readUInt32BE(0)) return undefined;
  return { entry: { index, term, kind, data, checksum }, previousChecksum };
}

export function encodeFact(key: Buffer, fact: object): Buffer {
  const text = JSON.stringify(fact);
  const record = Buffer.allocUnsafe(CHECKSUM_BYTES + Buffer.byteLength(text));
  record.write(text, CHECKSUM_BYTES);
  record.writeUInt32BE(crc32c(record, crc32c(key), CHECKSUM_BYTES), 0);
  return record;
}

export function putFact(key: Buffer, fact: object): Change {
  return { kind: 'put', key, value: encodeFact(key, fact) };
}

/** Undefined when the record is not what was written under this key. */
export function decodeFact<Fact extends object>(key: Buffer, record: Buffer): Fact | undefined {
  if (
    record.length < CHECKSUM_BYTES ||
    crc32c(record, crc32c(key), CHECKSUM_BYTES) !== record.readUInt32BE(0)
  ) {
    return undefined;
  }
  return JSON.parse(record.toString('utf8', CHECKSUM_BYTES)) as Fact;
}

function indexKey(prefix: number, index: number): Buffer {
  const key = Buffer.alloc(INDEX_KEY_BYTES);
  key[0] = prefix;
  key.writeUIntBE(index, 3, 6);
  return key;
}
