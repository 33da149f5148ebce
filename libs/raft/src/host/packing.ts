/**
 * Many commands in one piece of memory, which changes hands instead of being copied. Each is preceded by
 * what is said of it: for a proposal its number (8 bytes) and length (4), for an entry its length.
 * Entries of one piece follow each other in the log. Little-endian, as both threads run on one machine.
 */
import type { CommittedEntry, LogIndex } from '../replicated-log.js';

const NUMBER_BYTES = 8;
const LENGTH_BYTES = 4;

export interface Proposal {
  readonly id: number;
  readonly command: Buffer;
}

export function packProposals(proposals: readonly Proposal[]): ArrayBuffer {
  let byteCount = 0;
  for (const { command } of proposals) byteCount += NUMBER_BYTES + LENGTH_BYTES + command.length;
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
    const from = at + NUMBER_BYTES + LENGTH_BYTES;
    at = from + bytes.readUInt32LE(at + NUMBER_BYTES);
    proposals.push({ id, command: bytes.subarray(from, at) });
  }
  return proposals;
}

export function packEntries(entries: readonly CommittedEntry[]): ArrayBuffer {
  let byteCount = 0;
  for (const { command } of entries) byteCount += LENGTH_BYTES + command.length;
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
    const from = at + LENGTH_BYTES;
    at = from + bytes.readUInt32LE(at);
    const index = (firstIndex + entries.length) as LogIndex;
    entries.push({ index, command: bytes.subarray(from, at) });
  }
  return entries;
}
