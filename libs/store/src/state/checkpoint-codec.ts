/**
 * Encoding of a checkpoint: the facts and the proposers of one state. One row, so that both are of
 * the same state whatever a crash leaves of other rows.
 *
 *   u32 CRC32C of the rest | u32 bytes of the facts | facts | per proposer: its id, its window
 */
import { crc32c } from '@orch/raft';
import { SequenceWindow } from '../core/sequence-window.js';
import type { Facts } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';
import { decodeFacts, encodeFacts } from './facts-codec.js';

const headerBytes = 8;
const idBytes = 8;

export interface Checkpoint {
  readonly facts: Facts;
  /** Encoded windows by proposer. */
  readonly proposers: ReadonlyMap<string, Buffer>;
}

export function encodeCheckpoint({ facts, proposers }: Checkpoint): Buffer {
  const factBytes = encodeFacts(facts);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32BE(factBytes.length, 4);
  const parts: Buffer[] = [header, factBytes];
  for (const [proposer, window] of proposers) parts.push(Buffer.from(proposer, 'hex'), window);
  const bytes = Buffer.concat(parts);
  bytes.writeUInt32BE(crc32c(bytes, 0, 4), 0);
  return bytes;
}

/** Throws StoreError `Corrupt`. */
export function decodeCheckpoint(bytes: Buffer): {
  readonly facts: Facts;
  readonly proposers: Map<string, SequenceWindow>;
} {
  const isWhole = bytes.length >= headerBytes && crc32c(bytes, 0, 4) === bytes.readUInt32BE(0);
  if (!isWhole) {
    throw new StoreError(
      'Corrupt',
      'the checkpoint of the state does not match its checksum: restore this data directory from a backup or another replica',
    );
  }
  let at = headerBytes + bytes.readUInt32BE(4);
  const facts = decodeFacts(bytes.subarray(headerBytes, at));
  const proposers = new Map<string, SequenceWindow>();
  while (at < bytes.length) {
    const proposer = bytes.toString('hex', at, at + idBytes);
    const end = at + idBytes + SequenceWindow.encodedBytes;
    proposers.set(proposer, SequenceWindow.decode(proposer, bytes.subarray(at + idBytes, end)));
    at = end;
  }
  return { facts, proposers };
}
