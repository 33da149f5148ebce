/**
 * Records which commands of one proposer were applied: the highest sequence and a bit for each of
 * the `sequenceWindow` sequences up to it. Older sequences count as applied, so that a command
 * outside the window can never be applied a second time.
 */
import { invariant, verify } from '@orch/component';
import { crc32c } from '@orch/raft';
import { sequenceWindow } from '../limits.js';
import { StoreError } from '../versioned-store.js';

const wordBits = 32;
const wordCount = sequenceWindow / wordBits;
/** u32 checksum | f64 highest | f64 last index | 8 bytes nonce | bits */
const headerBytes = 28;

export class SequenceWindow {
  static readonly encodedBytes = headerBytes + wordCount * 4;
  highest = 0;
  /** Log index of the newest command. The proposer with the lowest one is evicted first. */
  lastIndex = 0;
  /** Checksum in the bytes that `encode` returned last. */
  checksum = 0;
  private readonly bits: Uint32Array;

  constructor(
    /** The digits that its registration carried: registering once more finds it. */
    readonly nonce: string,
    bits: Uint32Array = new Uint32Array(wordCount),
  ) {
    invariant(bits.length === wordCount, 'the window of a proposer has the wrong size');
    invariant(nonce.length > 0, 'a proposer has no nonce');
    this.bits = bits;
  }

  /** Whether `admit` would return false. */
  hasSeen(sequence: number): boolean {
    return (
      sequence <= this.highest - sequenceWindow || (sequence <= this.highest && this.get(sequence))
    );
  }

  /** Records the command. Returns false if it was applied before or is older than the window. */
  admit(sequence: number): boolean {
    invariant(sequence > 0, 'a command has no sequence');
    if (sequence > this.highest) {
      const clearFrom = Math.max(this.highest + 1, sequence - sequenceWindow + 1);
      for (let gap = clearFrom; gap < sequence; gap += 1) this.set(gap, false);
      this.highest = sequence;
      this.set(sequence, true);
      invariant(this.hasSeen(sequence), 'an admitted command is not recorded');
      return true;
    }
    if (sequence <= this.highest - sequenceWindow || this.get(sequence)) return false;
    this.set(sequence, true);
    invariant(this.hasSeen(sequence), 'an admitted command is not recorded');
    return true;
  }

  /** The checksum covers `proposer`, which the bytes do not contain. */
  encode(proposer: string): Buffer {
    const buffer = Buffer.allocUnsafe(SequenceWindow.encodedBytes);
    buffer.writeDoubleBE(this.highest, 4);
    buffer.writeDoubleBE(this.lastIndex, 12);
    const nonceBytes = buffer.write(this.nonce, 20, 8, 'hex');
    invariant(nonceBytes === 8, 'the nonce of a proposer is not 16 digits', { nonce: this.nonce });
    for (let word = 0; word < wordCount; word += 1) {
      buffer.writeUInt32BE(this.bits[word]!, headerBytes + word * 4);
    }
    this.checksum = checksumOf(proposer, buffer);
    buffer.writeUInt32BE(this.checksum, 0);
    verify(
      () => SequenceWindow.decode(proposer, buffer).equals(this),
      'an encoded window decodes to another',
    );
    return buffer;
  }

  /** Throws StoreError `Corrupt`. */
  static decode(proposer: string, buffer: Buffer): SequenceWindow {
    if (
      buffer.length !== SequenceWindow.encodedBytes ||
      checksumOf(proposer, buffer) !== buffer.readUInt32BE(0)
    ) {
      throw new StoreError(
        'Corrupt',
        'the record of a proposer does not match its checksum: restore this data directory from a backup or another replica',
      );
    }
    const bits = new Uint32Array(wordCount);
    for (let word = 0; word < wordCount; word += 1) {
      bits[word] = buffer.readUInt32BE(headerBytes + word * 4);
    }
    const window = new SequenceWindow(buffer.toString('hex', 20, headerBytes), bits);
    window.highest = buffer.readDoubleBE(4);
    window.lastIndex = buffer.readDoubleBE(12);
    window.checksum = buffer.readUInt32BE(0);
    return window;
  }

  private equals(other: SequenceWindow): boolean {
    return (
      this.highest === other.highest &&
      this.lastIndex === other.lastIndex &&
      this.nonce === other.nonce &&
      this.bits.every((word, at) => word === other.bits[at])
    );
  }

  private get(sequence: number): boolean {
    invariant(sequence <= this.highest, 'a sequence after the window is read');
    invariant(sequence > this.highest - sequenceWindow, 'a sequence before the window is read');
    const slot = sequence % sequenceWindow;
    return (this.bits[slot >>> 5]! & (1 << (slot & 31))) !== 0;
  }

  private set(sequence: number, value: boolean): void {
    const slot = sequence % sequenceWindow;
    invariant(slot >= 0, 'a sequence has no slot in the window');
    if (value) this.bits[slot >>> 5]! |= 1 << (slot & 31);
    else this.bits[slot >>> 5]! &= ~(1 << (slot & 31));
  }
}

function checksumOf(proposer: string, buffer: Buffer): number {
  return crc32c(buffer, crc32c(Buffer.from(proposer, 'latin1')), 4);
}
