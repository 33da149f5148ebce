/**
 * The commands of the state machine and their bytes in the log. Hand-written and compact: fixed
 * header, then the body, numbers big-endian. There is no checksum here because the log checks each
 * entry by its own (CRC32C). All that varies (ids, time) comes in the command, so that applying it
 * gives the same on every replica.
 *
 *   u8 format | u8 kind | u64 proposer | u48 sequence | u48 time (ms) | body
 */
import { type Expectation, type Operation, type Revision, StoreError } from '../versioned-store.js';

/** Names a command: its proposer and that one's count. */
export interface CommandId {
  /**
   * 16 hexadecimal digits: the log index at which this process life of a replica was registered, so
   * that no two are ever the same. A `register` itself carries digits drawn at random.
   */
  readonly proposer: string;
  readonly sequence: number;
}

interface Header {
  readonly id: CommandId;
  /** The proposer's wall time; the store's own time is the highest seen. */
  readonly timeMs: number;
}

export type Command = Header &
  (
    | { readonly kind: 'txn'; readonly operations: readonly Operation[] }
    | { readonly kind: 'compact'; readonly revision: Revision }
    | { readonly kind: 'expire' }
    /** Must be applied before the first command of a proposer. */
    | { readonly kind: 'register' }
    | ({ readonly kind: 'hash' } & HashReport)
  );

/** What a replica's running hash was when it had applied the entry at `index`. */
export interface HashReport {
  readonly index: number;
  readonly hash: number;
  /** 16 hexadecimal digits. */
  readonly member: string;
}

const FORMAT = 2;
const HEADER_BYTES = 22;
const COMPACT_BYTES = 6;
const HASH_BYTES = 18;
const KINDS = ['txn', 'compact', 'expire', 'register', 'hash'] as const;
/** Of the kinds whose commands are all of one size. */
const BODY_BYTES = { compact: COMPACT_BYTES, expire: 0, register: 0, hash: HASH_BYTES } as const;
const OPERATION_KINDS = ['put', 'delete', 'check'] as const;
const EXPECT_ABSENT = 1;
const EXPECT_REVISION = 2;
const HAS_OFFSET = 4;
const HAS_TIME_TO_LIVE = 8;
const HAS_BYTES = 16;
/** A client may expect any number; one that no revision reaches just never holds. */
const REVISION_MAX = 2 ** 48 - 1;
const OPERATION_BYTES_MAX = 2 + 2 + 6 + 4 + 6 + 4;

export function encodeCommand(command: Command): Buffer {
  if (command.kind === 'txn') return encodeTxn(command, command.operations);
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + BODY_BYTES[command.kind]);
  writeHeader(buffer, command);
  if (command.kind === 'compact') buffer.writeUIntBE(command.revision, HEADER_BYTES, 6);
  if (command.kind === 'hash') {
    buffer.writeUIntBE(command.index, HEADER_BYTES, 6);
    buffer.writeUInt32BE(command.hash, HEADER_BYTES + 6);
    buffer.write(command.member, HEADER_BYTES + 10, 8, 'hex');
  }
  return buffer;
}

/** Names the proposer in the bytes of a command that was encoded before it was known. */
export function setProposer(bytes: Buffer, proposer: string): void {
  bytes.write(proposer, 2, 8, 'hex');
}

/** Throws StoreError `Corrupt` for bytes that this program cannot have written or cannot read. */
export function decodeCommand(buffer: Buffer): Command {
  if (buffer.length < HEADER_BYTES || buffer[0] !== FORMAT) {
    throw new StoreError(
      'Corrupt',
      `a command of format ${buffer[0]} is in the log, this program reads format ${FORMAT}: use the version that wrote it`,
    );
  }
  const header: Header = {
    id: { proposer: buffer.toString('hex', 2, 10), sequence: buffer.readUIntBE(10, 6) },
    timeMs: buffer.readUIntBE(16, 6),
  };
  const kind = KINDS[buffer[1]!];
  if (kind !== undefined && kind !== 'txn' && buffer.length !== HEADER_BYTES + BODY_BYTES[kind]) {
    throw wrongSize();
  }
  switch (kind) {
    case 'txn':
      return { ...header, kind, operations: decodeOperations(buffer) };
    case 'compact':
      return { ...header, kind, revision: buffer.readUIntBE(HEADER_BYTES, 6) as Revision };
    case 'expire':
    case 'register':
      return { ...header, kind };
    case 'hash':
      return {
        ...header,
        kind,
        index: buffer.readUIntBE(HEADER_BYTES, 6),
        hash: buffer.readUInt32BE(HEADER_BYTES + 6),
        member: buffer.toString('hex', HEADER_BYTES + 10, HEADER_BYTES + HASH_BYTES),
      };
    default:
      throw new StoreError('Corrupt', `a command of unknown kind ${buffer[1]} is in the log`);
  }
}

function encodeTxn(command: Command, operations: readonly Operation[]): Buffer {
  let size = HEADER_BYTES + 2;
  for (const operation of operations) {
    size += OPERATION_BYTES_MAX + operation.key.length * 3 + (payloadOf(operation)?.length ?? 0);
  }
  const buffer = Buffer.allocUnsafe(size);
  writeHeader(buffer, command);
  let at = buffer.writeUInt16BE(operations.length, HEADER_BYTES);
  for (const operation of operations) at = writeOperation(buffer, at, operation);
  return buffer.subarray(0, at);
}

function writeHeader(buffer: Buffer, command: Command): void {
  buffer[0] = FORMAT;
  buffer[1] = KINDS.indexOf(command.kind);
  buffer.write(command.id.proposer, 2, 8, 'hex');
  buffer.writeUIntBE(command.id.sequence, 10, 6);
  buffer.writeUIntBE(command.timeMs, 16, 6);
}

function writeOperation(buffer: Buffer, start: number, operation: Operation): number {
  const payload = payloadOf(operation);
  const expect = operation.expect;
  const offset = operation.kind === 'check' ? undefined : operation.revisionOffset;
  const timeToLiveMs = operation.kind === 'put' ? operation.timeToLiveMs : undefined;
  let flags = 0;
  let at = start + 2;
  const keyBytes = buffer.write(operation.key, at + 2);
  at = buffer.writeUInt16BE(keyBytes, at) + keyBytes;
  if (expect?.kind === 'absent') flags |= EXPECT_ABSENT;
  if (expect?.kind === 'revision') {
    flags |= EXPECT_REVISION;
    at = buffer.writeUIntBE(Math.min(expect.revision, REVISION_MAX), at, 6);
  }
  if (offset !== undefined) {
    flags |= HAS_OFFSET;
    at = buffer.writeUInt32BE(offset, at);
  }
  if (timeToLiveMs !== undefined) {
    flags |= HAS_TIME_TO_LIVE;
    at = buffer.writeUIntBE(timeToLiveMs, at, 6);
  }
  if (payload) {
    flags |= HAS_BYTES;
    at = buffer.writeUInt32BE(payload.length, at);
    payload.copy(buffer, at);
    at += payload.length;
  }
  buffer[start] = OPERATION_KINDS.indexOf(operation.kind);
  buffer[start + 1] = flags;
  return at;
}

function decodeOperations(buffer: Buffer): Operation[] {
  let at = HEADER_BYTES;
  /** Where the next bytes begin, as many as these. */
  const take = (byteCount: number): number => {
    at += byteCount;
    if (at > buffer.length) throw wrongSize();
    return at - byteCount;
  };
  const count = buffer.readUInt16BE(take(2));
  const operations: Operation[] = [];
  for (let position = 0; position < count; position += 1) {
    const head = take(4);
    const kind = OPERATION_KINDS[buffer[head]!];
    const flags = buffer[head + 1]!;
    const keyStart = take(buffer.readUInt16BE(head + 2));
    const key = buffer.toString('utf8', keyStart, at);
    let expect: Expectation | undefined = flags & EXPECT_ABSENT ? { kind: 'absent' } : undefined;
    if (flags & EXPECT_REVISION) {
      expect = { kind: 'revision', revision: buffer.readUIntBE(take(6), 6) as Revision };
    }
    let revisionOffset: number | undefined;
    if (flags & HAS_OFFSET) {
      revisionOffset = buffer.readUInt32BE(take(4));
    }
    let timeToLiveMs: number | undefined;
    if (flags & HAS_TIME_TO_LIVE) {
      timeToLiveMs = buffer.readUIntBE(take(6), 6);
    }
    let bytes: Buffer | undefined;
    if (flags & HAS_BYTES) {
      const bytesStart = take(buffer.readUInt32BE(take(4)));
      bytes = buffer.subarray(bytesStart, at);
    }
    operations.push(toOperation(kind, key, expect, revisionOffset, timeToLiveMs, bytes));
  }
  if (at !== buffer.length) throw wrongSize();
  return operations;
}

function wrongSize(): StoreError {
  return new StoreError('Corrupt', 'a command in the log has a wrong size');
}

function toOperation(
  kind: (typeof OPERATION_KINDS)[number] | undefined,
  key: string,
  expect: Expectation | undefined,
  revisionOffset: number | undefined,
  timeToLiveMs: number | undefined,
  bytes: Buffer | undefined,
): Operation {
  const common = { key, ...(expect && { expect }) };
  const offset = revisionOffset === undefined ? {} : { revisionOffset };
  if (kind === 'put' && bytes) {
    const timeToLive = timeToLiveMs === undefined ? {} : { timeToLiveMs };
    return { kind, ...common, bytes, ...offset, ...timeToLive };
  }
  if (kind === 'delete') return { kind, ...common, ...(bytes && { lastBytes: bytes }), ...offset };
  if (kind === 'check' && expect) return { kind, key, expect };
  throw new StoreError('Corrupt', 'a command in the log holds an operation that makes no sense');
}

function payloadOf(operation: Operation): Buffer | undefined {
  if (operation.kind === 'put') return operation.bytes;
  return operation.kind === 'delete' ? operation.lastBytes : undefined;
}
