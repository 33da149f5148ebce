/**
 * What a write request changes in the database: pure. Checks that the request continues the log,
 * since this is the last place where a wrong chain is a fault of the program and not a damaged
 * disk.
 */
import { follows } from '../core/log/entry-checksum.js';
import type { WriteRequest } from '../core/output.js';
import type { LogIndex, LogPoint } from '../core/types.js';
import type { Change } from './disk/disk.js';
import { configurationKey, encodeEntry, entryKey, putFact } from './log-codec.js';
import { type LogHead, withHardState } from './log-head.js';
import type { ConfigurationAt } from './log-scan.js';

export interface LogBatch {
  readonly changes: Change[];
  readonly head: LogHead;
  readonly configurations: ConfigurationAt[];
}

/**
 * `before` is the point that the entries continue from, `known` the configurations in the log.
 * Throws RangeError when the request contradicts the log; then nothing of it may be written.
 */
export function planBatch(
  head: LogHead,
  before: LogPoint,
  known: readonly ConfigurationAt[],
  request: Omit<WriteRequest, 'id'>,
  added: readonly ConfigurationAt[],
): LogBatch {
  if (before.index < head.commitIndex) {
    throw new RangeError(`cannot drop entry ${before.index + 1}, which is committed`);
  }
  const changes: Change[] = [];
  let last = before;
  for (const entry of request.entries) {
    if (!follows(last, entry)) {
      throw new RangeError(`entry ${entry.index} does not continue entry ${last.index}`);
    }
    changes.push({
      kind: 'put',
      key: entryKey(entry.index),
      value: encodeEntry(last.checksum, entry),
    });
    last = { index: entry.index, term: entry.term, checksum: entry.checksum };
  }
  for (let index = last.index + 1; index <= head.last.index; index += 1) {
    changes.push({ kind: 'delete', key: entryKey(index) });
  }
  const { hardState } = request;
  const { obsoleteTo: _, ...base } = hardState ? withHardState(head, hardState) : head;
  if (last.term > base.term || base.commitIndex > last.index) {
    throw new RangeError(
      `entry ${last.index} of term ${last.term} does not fit term ${base.term} and commit index ${base.commitIndex}`,
    );
  }
  const configurations = changeConfigurations(changes, before.index, known, request, added);
  return { changes, head: { ...base, last }, configurations };
}

/** Drops truncated configurations, adds those of the new entries. */
function changeConfigurations(
  changes: Change[],
  keptTo: LogIndex,
  known: readonly ConfigurationAt[],
  { entries }: Omit<WriteRequest, 'id'>,
  added: readonly ConfigurationAt[],
): ConfigurationAt[] {
  const expected = entries.filter(({ kind }) => kind === 'configuration');
  if (expected.map(({ index }) => index).join() !== added.map(({ index }) => index).join()) {
    throw new RangeError('the configurations are not those of the configuration entries');
  }
  for (const { index } of known) {
    if (index > keptTo) changes.push({ kind: 'delete', key: configurationKey(index) });
  }
  for (const { index, configuration } of added) {
    changes.push(putFact(configurationKey(index), configuration));
  }
  return [...known.filter(({ index }) => index <= keptTo), ...added];
}
