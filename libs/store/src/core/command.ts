/**
 * The commands of the state machine and their encoding in the log: a fixed header, then the body,
 * numbers big-endian. Commands have no checksum, because the log has one for each entry (CRC32C).
 * Every input that varies (ids, time) is in the command, so that applying it has the same effect on
 * every replica.
 *
 *   u8 format | u8 kind | u64 proposer | u48 sequence | u48 time (ms) | body
 */
import { invariant, verify } from '@orch/component';
import { operationsMax } from '../limits.js';
import { type Expectation, type Operation, type Revision, StoreError } from '../versioned-store.js';

/** Names a command: its proposer and the count of that proposer's commands. */
export interface CommandId {
  /**
   * 16 hexadecimal digits: the log index at which this process life of a replica was registered, so
   * that ids are unique. A `register` command carries random digits instead.
   */
  readonly proposer: string;
  readonly sequence: number;
}

interface Header {
  readonly id: CommandId;
  /** The proposer's time; the store's own time is the highest one applied. */
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

/** The running hash of a replica after the entry at `index`. */
export interface HashReport {
  readonly index: number;
  readonly hash: number;
  /** 16 hexadecimal digits. */
  readonly member: string;
}

const commandFormat = 2;
const headerBytes = 22;
const compactBytes = 6;
const hashBytes = 18;
const commandKinds = ['txn', 'compact', 'expire', 'register', 'hash'] as const;
/** Body sizes of the kinds with a fixed size. */
const bodyBytes = { compact: compactBytes, expire: 0, register: 0, hash: hashBytes } as const;
const operationKinds = ['put', 'delete', 'check'] as const;
const expectAbsentFlag = 1;
const expectRevisionFlag = 2;
const hasOffsetFlag = 4;
const hasTimeToLiveFlag = 8;
const hasBytesFlag = 16;
/** A client may expect any number; an expectation above every revision never holds. */
const revisionMax = 2 ** 48 - 1;
const operationBytesMax = 2 + 2 + 6 + 4 + 6 + 4;

export function encodeCommand(command: Command): Buffer {
  if (command.kind === 'txn') return encodeTxn(command, command.operations);
  const buffer = Buffer.allocUnsafe(headerBytes + bodyBytes[command.kind]);
  writeHeader(buffer, command);
  if (command.kind === 'compact') buffer.writeUIntBE(command.revision, headerBytes, 6);
  if (command.kind === 'hash') {
    buffer.writeUIntBE(command.index, headerBytes, 6);
    buffer.writeUInt32BE(command.hash, headerBytes + 6);
    const written = buffer.write(command.member, headerBytes + 10, 8, 'hex');
    invariant(written === 8, 'the id of a member is not 16 digits', { member: command.member });
  }
  verify(() => isEncoded(command, buffer), 'an encoded command decodes to another');
  return buffer;
}

/** Sets the proposer of a command that was encoded before the proposer was registered. */
export function setProposer(bytes: Buffer, proposer: string): void {
  invariant(
    bytes.length >= headerBytes && bytes[0] === commandFormat,
    'a proposer is set in bytes that are no command',
  );
  const written = bytes.write(proposer, 2, 8, 'hex');
  invariant(written === 8, 'the id of a proposer is not 16 digits', { proposer });
}

/** Throws StoreError `Corrupt` for bytes that are not a command of this format. */
export function decodeCommand(buffer: Buffer): Command {
  if (buffer.length < headerBytes || buffer[0] !== commandFormat) {
    throw new StoreError(
      'Corrupt',
      `a command of format ${buffer[0]} is in the log, this program reads format ${commandFormat}: use the version that wrote it`,
    );
  }
  const header: Header = {
    id: { proposer: buffer.toString('hex', 2, 10), sequence: buffer.readUIntBE(10, 6) },
    timeMs: buffer.readUIntBE(16, 6),
  };
  const kind = commandKinds[buffer[1]!];
  if (kind !== undefined && kind !== 'txn' && buffer.length !== headerBytes + bodyBytes[kind]) {
    throw wrongSizeError();
  }
  switch (kind) {
    case 'txn':
      return { ...header, kind, operations: decodeOperations(buffer) };
    case 'compact':
      return { ...header, kind, revision: buffer.readUIntBE(headerBytes, 6) as Revision };
    case 'expire':
    case 'register':
      return { ...header, kind };
    case 'hash':
      return {
        ...header,
        kind,
        index: buffer.readUIntBE(headerBytes, 6),
        hash: buffer.readUInt32BE(headerBytes + 6),
        member: buffer.toString('hex', headerBytes + 10, headerBytes + hashBytes),
      };
    default:
      throw new StoreError('Corrupt', `a command of unknown kind ${buffer[1]} is in the log`);
  }
}

function encodeTxn(command: Command, operations: readonly Operation[]): Buffer {
  invariant(operations.length <= operationsMax, 'a commit has too many operations', {
    operationCount: operations.length,
  });
  let size = headerBytes + 2;
  for (const operation of operations) {
    size += operationBytesMax + operation.key.length * 3 + (payloadOf(operation)?.length ?? 0);
  }
  const buffer = Buffer.allocUnsafe(size);
  writeHeader(buffer, command);
  let at = buffer.writeUInt16BE(operations.length, headerBytes);
  for (const operation of operations) at = writeOperation(buffer, at, operation);
  invariant(at <= size, 'a commit is longer than computed', { size, byteCount: at });
  const bytes = buffer.subarray(0, at);
  verify(() => isEncoded(command, bytes), 'an encoded command decodes to another');
  return bytes;
}

function isEncoded(command: Command, bytes: Buffer): boolean {
  const decoded = decodeCommand(bytes);
  const { id, kind, timeMs } = decoded;
  return (
    kind === command.kind &&
    id.proposer === command.id.proposer &&
    id.sequence === command.id.sequence &&
    timeMs === command.timeMs &&
    keysOf(decoded) === keysOf(command)
  );
}

function keysOf(command: Command): string {
  return command.kind === 'txn' ? command.operations.map(({ key }) => key).join('\n') : '';
}

function writeHeader(buffer: Buffer, command: Command): void {
  buffer[0] = commandFormat;
  buffer[1] = commandKinds.indexOf(command.kind);
  const written = buffer.write(command.id.proposer, 2, 8, 'hex');
  invariant(written === 8, 'the id of a proposer is not 16 digits', {
    proposer: command.id.proposer,
  });
  invariant(Number.isInteger(command.timeMs), 'a command has no time', { timeMs: command.timeMs });
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
  if (expect?.kind === 'absent') flags |= expectAbsentFlag;
  if (expect?.kind === 'revision') {
    flags |= expectRevisionFlag;
    at = buffer.writeUIntBE(Math.min(expect.revision, revisionMax), at, 6);
  }
  if (offset !== undefined) {
    flags |= hasOffsetFlag;
    at = buffer.writeUInt32BE(offset, at);
  }
  if (timeToLiveMs !== undefined) {
    flags |= hasTimeToLiveFlag;
    at = buffer.writeUIntBE(timeToLiveMs, at, 6);
  }
  if (payload) {
    flags |= hasBytesFlag;
    at = buffer.writeUInt32BE(payload.length, at);
    payload.copy(buffer, at);
    at += payload.length;
  }
  buffer[start] = operationKinds.indexOf(operation.kind);
  buffer[start + 1] = flags;
  return at;
}

function decodeOperations(buffer: Buffer): Operation[] {
  let at = headerBytes + 2;
  if (at > buffer.length) throw wrongSizeError();
  const count = buffer.readUInt16BE(headerBytes);
  const operations: Operation[] = [];
  for (let position = 0; position < count; position += 1) {
    const keyStart = at + 4;
    if (keyStart > buffer.length) throw wrongSizeError();
    const kind = operationKinds[buffer[at]!];
    const flags = buffer[at + 1]!;
    const keyEnd = keyStart + buffer.readUInt16BE(at + 2);
    if (keyEnd + fieldBytes(flags) > buffer.length) throw wrongSizeError();
    const key = buffer.toString('utf8', keyStart, keyEnd);
    at = keyEnd;
    let expect: Expectation | undefined = flags & expectAbsentFlag ? { kind: 'absent' } : undefined;
    if (flags & expectRevisionFlag) {
      expect = { kind: 'revision', revision: buffer.readUIntBE(at, 6) as Revision };
      at += 6;
    }
    let revisionOffset: number | undefined;
    if (flags & hasOffsetFlag) {
      revisionOffset = buffer.readUInt32BE(at);
      at += 4;
    }
    let timeToLiveMs: number | undefined;
    if (flags & hasTimeToLiveFlag) {
      timeToLiveMs = buffer.readUIntBE(at, 6);
      at += 6;
    }
    let bytes: Buffer | undefined;
    if (flags & hasBytesFlag) {
      const bytesStart = at + 4;
      at = bytesStart + buffer.readUInt32BE(at);
      if (at > buffer.length) throw wrongSizeError();
      bytes = buffer.subarray(bytesStart, at);
    }
    operations.push(toOperation(kind, key, expect, revisionOffset, timeToLiveMs, bytes));
  }
  if (at !== buffer.length) throw wrongSizeError();
  return operations;
}

/** Bytes of the fields after the key, without the payload. */
function fieldBytes(flags: number): number {
  return (
    (flags & expectRevisionFlag ? 6 : 0) +
    (flags & hasOffsetFlag ? 4 : 0) +
    (flags & hasTimeToLiveFlag ? 6 : 0) +
    (flags & hasBytesFlag ? 4 : 0)
  );
}

function wrongSizeError(): StoreError {
  return new StoreError('Corrupt', 'a command in the log has a wrong size');
}

function toOperation(
  kind: (typeof operationKinds)[number] | undefined,
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
  throw new StoreError(
    'Corrupt',
    'a command in the log has an operation of no kind or without its fields',
  );
}

function payloadOf(operation: Operation): Buffer | undefined {
  if (operation.kind === 'put') return operation.bytes;
  return operation.kind === 'delete' ? operation.lastBytes : undefined;
}
