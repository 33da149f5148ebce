/**
 * Bytes of a checkpoint: the facts of a moment and what was known of proposers then, in one row, since
 * both must be of the same moment whatever a crash leaves of other rows.
 *
 *   u32 CRC32C of what follows | u32 bytes of the facts | facts | for each proposer: its id, its window
 */
import { crc32c } from '@orch/raft';
import { SequenceWindow } from '../core/sequence-window.js';
import type { Facts } from '../core/state-machine.js';
import { StoreError } from '../versioned-store.js';
import { decodeFacts, encodeFacts } from './facts-codec.js';

const HEADER_BYTES = 8;
const ID_BYTES = 8;

export interface Checkpoint {
  readonly facts: Facts;
  /** Encoded windows by proposer. */
  readonly proposers: ReadonlyMap<string, Buffer>;
}

export function encodeCheckpoint({ facts, proposers }: Checkpoint): Buffer {
  const factBytes = encodeFacts(facts);
  const header = Buffer.alloc(HEADER_BYTES);
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
  const isWhole = bytes.length >= HEADER_BYTES && crc32c(bytes, 0, 4) === bytes.readUInt32BE(0);
  if (!isWhole) {
    throw new StoreError(
      'Corrupt',
      'the checkpoint of the state does not match its checksum: restore this data directory from a backup or another replica',
    );
  }
  let at = HEADER_BYTES + bytes.readUInt32BE(4);
  const facts = decodeFacts(bytes.subarray(HEADER_BYTES, at));
  const proposers = new Map<string, SequenceWindow>();
  while (at < bytes.length) {
    const proposer = bytes.toString('hex', at, at + ID_BYTES);
    const end = at + ID_BYTES + SequenceWindow.ENCODED_BYTES;
    proposers.set(proposer, SequenceWindow.decode(proposer, bytes.subarray(at + ID_BYTES, end)));
    at = end;
  }
  return { facts, proposers };
}
