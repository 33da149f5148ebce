/**
 * Which commands of one proposer were applied: the highest sequence and a bit for each of the
 * `SEQUENCE_WINDOW` before it. Anything older counts as applied, so that a command that was
 * forgotten can never be applied a second time.
 */
import { SEQUENCE_WINDOW } from '../limits.js';

const WORD_BITS = 32;
const WORDS = SEQUENCE_WINDOW / WORD_BITS;

export class SequenceWindow {
  highest = 0;
  /** Log index of the newest command: the proposer silent longest is forgotten first. */
  lastIndex = 0;
  readonly #bits: Uint32Array;

  constructor(bits: Uint32Array = new Uint32Array(WORDS)) {
    this.#bits = bits;
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

  encode(): Buffer {
    const buffer = Buffer.allocUnsafe(16 + WORDS * 4);
    buffer.writeDoubleBE(this.highest, 0);
    buffer.writeDoubleBE(this.lastIndex, 8);
    for (let word = 0; word < WORDS; word += 1) {
      buffer.writeUInt32BE(this.#bits[word]!, 16 + word * 4);
    }
    return buffer;
  }

  static decode(buffer: Buffer): SequenceWindow {
    const bits = new Uint32Array(WORDS);
    for (let word = 0; word < WORDS; word += 1) bits[word] = buffer.readUInt32BE(16 + word * 4);
    const window = new SequenceWindow(bits);
    window.highest = buffer.readDoubleBE(0);
    window.lastIndex = buffer.readDoubleBE(8);
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
