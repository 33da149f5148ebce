/** The errors of reads and watches at a revision outside the stored history. */
import { type Revision, StoreError } from './versioned-store.js';

/** History below `compacted` is gone, so that nothing can be read or watched from `requested`. */
export function compactedError(requested: number, compacted: Revision): StoreError {
  return new StoreError(
    'Compacted',
    `revision ${requested} has been compacted, history begins after ${compacted}`,
    compacted,
  );
}

/** The store is at `current` and has not reached `requested`. */
export function futureRevisionError(requested: number, current: Revision): StoreError {
  return new StoreError(
    'FutureRevision',
    `revision ${requested} is not reached, the store is at revision ${current}`,
    current,
  );
}
