/**
 * Which commands of one proposer were applied: the highest sequence and a bit for each of the
 * `SEQUENCE_WINDOW` before it. Anything older counts as applied, so that a command that was
 * forgotten can never be applied a second time.
 */
import { crc32c } from '@orch/raft';
import { SEQUENCE_WINDOW } from '../limits.js';
import { StoreError } from '../versioned-store.js';

const WORD_BITS = 32;
const WORDS = SEQUENCE_WINDOW / WORD_BITS;
/** u32 checksum | f64 highest | f64 last index | 8 bytes nonce | bits */
const HEADER_BYTES = 28;

export class SequenceWindow {
  static readonly ENCODED_BYTES = HEADER_BYTES + WORDS * 4;
  highest = 0;
  /** Log index of the newest command: the proposer silent longest is forgotten first. */
  lastIndex = 0;
  /** Of what `encode` gave last. */
  checksum = 0;
  readonly #bits: Uint32Array;

  constructor(
    /** The digits that its registration carried: registering once more finds it. */
    readonly nonce: string,
    bits: Uint32Array = new Uint32Array(WORDS),
  ) {
    this.#bits = bits;
  }

  /** Whether `admit` would say no. */
  hasSeen(sequence: number): boolean {
    return (
      sequence <= this.highest - SEQUENCE_WINDOW ||
      (sequence <= this.highest && this.#get(sequence))
    );
  }

  /** Notes the command; false when it was applied before or is too old to know. */
  admit(sequence: number): boolean {
    if (sequence > this.highest) {
      const clearFrom = Math.max(this.highest + 1, sequence - SEQUENCE_WINDOW + 1);
      for (let gap = clearFrom; gap < sequence; gap += 1) this.#set(gap, false);
      this.highest = sequence;
      this.#set(sequence, true);
      return true;
    }
    if (sequence <= this.highest - SEQUENCE_WINDOW || this.#get(sequence)) return false;
    this.#set(sequence, true);
    return true;
  }

  /** `proposer`: whose it is; the checksum covers it. */
  encode(proposer: string): Buffer {
    const buffer = Buffer.allocUnsafe(SequenceWindow.ENCODED_BYTES);
    buffer.writeDoubleBE(this.highest, 4);
    buffer.writeDoubleBE(this.lastIndex, 12);
    buffer.write(this.nonce, 20, 8, 'hex');
    for (let word = 0; word < WORDS; word += 1) {
      buffer.writeUInt32BE(this.#bits[word]!, HEADER_BYTES + word * 4);
    }
    this.checksum = checksumOf(proposer, buffer);
    buffer.writeUInt32BE(this.checksum, 0);
    return buffer;
  }

  /** Throws StoreError `Corrupt`. */
  static decode(proposer: string, buffer: Buffer): SequenceWindow {
    if (
      buffer.length !== SequenceWindow.ENCODED_BYTES ||
      checksumOf(proposer, buffer) !== buffer.readUInt32BE(0)
    ) {
      throw new StoreError(
        'Corrupt',
        'what was noted of a proposer does not match its checksum: restore this data directory from a backup or another replica',
      );
    }
    const bits = new Uint32Array(WORDS);
    for (let word = 0; word < WORDS; word += 1) {
      bits[word] = buffer.readUInt32BE(HEADER_BYTES + word * 4);
    }
    const window = new SequenceWindow(buffer.toString('hex', 20, HEADER_BYTES), bits);
    window.highest = buffer.readDoubleBE(4);
    window.lastIndex = buffer.readDoubleBE(12);
    window.checksum = buffer.readUInt32BE(0);
    return window;
  }

  #get(sequence: number): boolean {
    const slot = sequence % SEQUENCE_WINDOW;
    return (this.#bits[slot >>> 5]! & (1 << (slot & 31))) !== 0;
  }

  #set(sequence: number, value: boolean): void {
    const slot = sequence % SEQUENCE_WINDOW;
    if (value) this.#bits[slot >>> 5]! |= 1 << (slot & 31);
    else this.#bits[slot >>> 5]! &= ~(1 << (slot & 31));
  }
}

function checksumOf(proposer: string, buffer: Buffer): number {
  return crc32c(buffer, crc32c(Buffer.from(proposer, 'latin1')), 4);
}
