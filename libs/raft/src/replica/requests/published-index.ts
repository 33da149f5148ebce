/**
 * The index at which a reader may read without a round, shared between the replica, which publishes
 * it, and the thread of the state. Exists only while this replica is a leader that decides alone.
 *
 * Invariant: a reader that finds an index here sees every write that was acknowledged before. So
 * the replica publishes each change, and withdraws the index, before it carries out any other
 * output of the same step: before another member can learn of a commit, or of a configuration in
 * which it may elect another leader. One word, so that no reader sees a mixture.
 */
import { asLogIndex } from '../../core/brands.js';
import type { LogIndex } from '../../core/types.js';

const none = -1n;

export class PublishedIndex {
  private readonly word: BigInt64Array<SharedArrayBuffer>;
  /** The content of the word, known to the publisher. */
  private latest: LogIndex | undefined;

  /** `memory`: that of the publisher, on another thread. */
  constructor(readonly memory: SharedArrayBuffer = newMemory()) {
    this.word = new BigInt64Array(memory);
  }

  publish(index: LogIndex | undefined): void {
    if (index === this.latest) return;
    this.latest = index;
    Atomics.store(this.word, 0, index === undefined ? none : BigInt(index));
  }

  read(): LogIndex | undefined {
    const index = Atomics.load(this.word, 0);
    return index === none ? undefined : asLogIndex(Number(index));
  }
}

function newMemory(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  new BigInt64Array(memory)[0] = none;
  return memory;
}
