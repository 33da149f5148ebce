/**
 * Many commands in one buffer, which is transferred instead of copied. Each has a header: number (8
 * bytes) and length (4) for a proposal, length for an entry. Entries of one buffer follow each
 * other in the log. Little-endian, as both threads run on one machine.
 */

import { asLogIndex } from '../core/brands.js';
import type { LogIndex } from '../core/types.js';
import type { CommittedEntry } from '../replicated-log.js';

const numberBytes = 8;
const lengthBytes = 4;

export interface Proposal {
  readonly id: number;
  readonly command: Buffer;
}

export function packProposals(proposals: readonly Proposal[]): ArrayBuffer {
  let byteCount = 0;
  for (const { command } of proposals) byteCount += numberBytes + lengthBytes + command.length;
  const packed = Buffer.allocUnsafeSlow(byteCount);
  let at = 0;
  for (const { id, command } of proposals) {
    at = packed.writeDoubleLE(id, at);
    at = packed.writeUInt32LE(command.length, at);
    at += command.copy(packed, at);
  }
  return packed.buffer;
}

export function unpackProposals(packed: ArrayBuffer): Proposal[] {
  const bytes = Buffer.from(packed);
  const proposals: Proposal[] = [];
  for (let at = 0; at < bytes.length; ) {
    const id = bytes.readDoubleLE(at);
    const from = at + numberBytes + lengthBytes;
    at = from + bytes.readUInt32LE(at + numberBytes);
    proposals.push({ id, command: bytes.subarray(from, at) });
  }
  return proposals;
}

export function packEntries(entries: readonly CommittedEntry[]): ArrayBuffer {
  let byteCount = 0;
  for (const { command } of entries) byteCount += lengthBytes + command.length;
  const packed = Buffer.allocUnsafeSlow(byteCount);
  let at = 0;
  for (const { command } of entries) {
    at = packed.writeUInt32LE(command.length, at);
    at += command.copy(packed, at);
  }
  return packed.buffer;
}

export function unpackEntries(firstIndex: LogIndex, packed: ArrayBuffer): CommittedEntry[] {
  const bytes = Buffer.from(packed);
  const entries: CommittedEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const from = at + lengthBytes;
    at = from + bytes.readUInt32LE(at);
    const index = asLogIndex(firstIndex + entries.length);
    entries.push({ index, command: bytes.subarray(from, at) });
  }
  return entries;
}
