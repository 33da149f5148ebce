/** What a move of the log's start changes in the database: pure, as is `planBatch` for a write. */
import { maxIndex } from '../core/brands.js';
import type { LogIndex, SnapshotPoint } from '../core/types.js';
import type { Change } from './disk/disk.js';
import { pointOf } from './entry-reader.js';
import type { LogBatch } from './log-batch.js';
import { configurationKey, putFact, startKey } from './log-codec.js';
import type { LogHead } from './log-head.js';
import type { ConfigurationAt } from './log-scan.js';

/** Forward within the log: the entries after it stay. */
export function planStartAfter(
  head: LogHead,
  known: readonly ConfigurationAt[],
  start: SnapshotPoint,
): LogBatch {
  return {
    changes: [putFact(startKey, start), ...deleteConfigurations(known, start.index)],
    head: { ...head, commitIndex: maxIndex(head.commitIndex, start.index) },
    configurations: known.filter(({ index }) => index > start.index),
  };
}

/**
 * Past all entries, or instead of them: none stays. Those after the new start are named as left
 * over.
 */
export function planStartOver(
  head: LogHead,
  known: readonly ConfigurationAt[],
  start: SnapshotPoint,
): LogBatch {
  const obsoleteTo = head.last.index;
  const sameTerm = start.term <= head.term;
  return {
    changes: [putFact(startKey, start), ...deleteConfigurations(known, obsoleteTo)],
    head: {
      sequence: head.sequence,
      term: sameTerm ? head.term : start.term,
      ...(sameTerm && head.votedFor !== undefined ? { votedFor: head.votedFor } : {}),
      commitIndex: start.index,
      last: pointOf(start),
      ...(obsoleteTo > start.index ? { obsoleteTo } : {}),
    },
    configurations: [],
  };
}

function deleteConfigurations(known: readonly ConfigurationAt[], upTo: LogIndex): Change[] {
  return known
    .filter(({ index }) => index <= upTo)
    .map(({ index }) => ({ kind: 'delete', key: configurationKey(index) }));
}
