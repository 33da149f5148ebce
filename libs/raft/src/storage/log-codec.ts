/**
 * Keys and records of the log database; `docs/store.md` has the table. Entries lie under `e` +
 * index, big-endian, so that the database's order is the log's. A record names the checksum of the
 * entry before and carries its own over that and everything else: it can be checked alone and as a
 * link of the chain. Facts are JSON behind a CRC32C over key and text: a good record in the wrong
 * place is found as well.
 */

import { asLogIndex, asMemberId, asTerm } from '../core/brands.js';
import { crc32c } from '../core/log/crc32c.js';
import { entryChecksum } from '../core/log/entry-checksum.js';
import type { Entry, EntryKind, LogIndex, MemberId } from '../core/types.js';
import type { Change } from './disk/disk.js';

const entryPrefix = 0x65; // e
const configurationPrefix = 0x63; // c
const indexKeyBytes = 9;
const checksumBytes = 4;
/** u32 checksum, u32 checksum of the entry before, u48 term, u8 kind, u32 length of the data. */
const entryHeaderBytes = 19;

export const identityKey = Buffer.from('h/identity');
export const startKey = Buffer.from('h/start');
export const headKey = Buffer.from('h/head');
export const admittedKey = Buffer.from('h/admitted');
export const peersFrom = Buffer.from('p/');
export const peersEnd = Buffer.from('p0');
export const entriesEnd = Buffer.of(entryPrefix + 1);
export const configurationsEnd = Buffer.of(configurationPrefix + 1);

/** Stored codes; never reused for another kind. */
const kindCodes: Readonly<Record<EntryKind, number>> = { command: 1, configuration: 2, empty: 3 };
const kindsByCode = new Map(
  Object.entries(kindCodes).map(([kind, code]) => [code, kind as EntryKind] as const),
);

export function entryKey(index: number): Buffer {
  return indexKey(entryPrefix, index);
}

export function configurationKey(index: number): Buffer {
  return indexKey(configurationPrefix, index);
}

export function indexOfKey(key: Buffer): LogIndex {
  return asLogIndex(key.readUIntBE(3, 6));
}

export function peerKey(member: string): Buffer {
  return Buffer.from(`p/${member}`);
}

export function memberOfPeerKey(key: Buffer): MemberId {
  return asMemberId(key.toString('utf8', peersFrom.length));
}

export function encodeEntry(previousChecksum: number, entry: Entry): Buffer {
  const { data } = entry;
  const record = Buffer.allocUnsafeSlow(entryHeaderBytes + data.length);
  record.writeUInt32BE(entry.checksum, 0);
  record.writeUInt32BE(previousChecksum, 4);
  record.writeUIntBE(entry.term, 8, 6);
  record[14] = kindCodes[entry.kind];
  record.writeUInt32BE(data.length, 15);
  record.set(data, entryHeaderBytes);
  return record;
}

export interface EntryRecord {
  readonly entry: Entry;
  /** Checksum of the entry before. */
  readonly previousChecksum: number;
}

/**
 * Undefined when the record does not match its checksum or `index`. `data` is a part of `record`.
 */
export function decodeEntry(index: LogIndex, record: Buffer): EntryRecord | undefined {
  if (record.length < entryHeaderBytes) return undefined;
  const kind = kindsByCode.get(record[14]!);
  const data = record.subarray(entryHeaderBytes);
  if (kind === undefined || data.length !== record.readUInt32BE(15)) return undefined;
  const previousChecksum = record.readUInt32BE(4);
  const term = asTerm(record.readUIntBE(8, 6));
  const checksum = entryChecksum(previousChecksum, term, index, kind, data);
  if (checksum !== record.readUInt32BE(0)) return undefined;
  return { entry: { index, term, kind, data, checksum }, previousChecksum };
}

export function encodeFact(key: Buffer, fact: object): Buffer {
  const text = JSON.stringify(fact);
  const record = Buffer.allocUnsafe(checksumBytes + Buffer.byteLength(text));
  record.write(text, checksumBytes);
  record.writeUInt32BE(crc32c(record, crc32c(key), checksumBytes), 0);
  return record;
}

export function putFact(key: Buffer, fact: object): Change {
  return { kind: 'put', key, value: encodeFact(key, fact) };
}

/** Undefined when the record does not match its checksum or key. */
export function decodeFact<Fact extends object>(key: Buffer, record: Buffer): Fact | undefined {
  if (
    record.length < checksumBytes ||
    crc32c(record, crc32c(key), checksumBytes) !== record.readUInt32BE(0)
  ) {
    return undefined;
  }
  return JSON.parse(record.toString('utf8', checksumBytes)) as Fact;
}

function indexKey(prefix: number, index: number): Buffer {
  const key = Buffer.alloc(indexKeyBytes);
  key[0] = prefix;
  key.writeUIntBE(index, 3, 6);
  return key;
}
