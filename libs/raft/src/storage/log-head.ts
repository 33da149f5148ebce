/**
 * The head of the log: part of every write, so that one record describes the newest write. After
 * each synced write its bytes go to the mark as well, a file beside the database: when the database
 * has silently lost its newest writes, the mark has a later head.
 */
import { maxIndex } from '../core/brands.js';
import type { HardState, LogIndex, LogPoint, MemberId } from '../core/types.js';
import { LogError } from '../replicated-log.js';
import { decodeFact, headKey } from './log-codec.js';

export interface LogHead {
  /** Counts the writes of this log; no two heads have the same. */
  readonly sequence: number;
  readonly term: HardState['term'];
  readonly votedFor?: MemberId;
  readonly commitIndex: LogIndex;
  readonly last: LogPoint;
  /** Entries after `last` up to here are left over from a log that was dropped: not yet deleted. */
  readonly obsoleteTo?: LogIndex;
}

export function hardStateOf(head: LogHead): HardState {
  return { term: head.term, votedFor: head.votedFor, commitIndex: head.commitIndex };
}

/**
 * The head after a change of the hard state. A lower term or a second vote in a term would break
 * the promise that an earlier write made to the other replicas: that is a fault of the caller.
 */
export function withHardState(head: LogHead, next: HardState): LogHead {
  if (next.term < head.term) throw new RangeError(`term ${next.term} after term ${head.term}`);
  if (next.term === head.term && head.votedFor !== undefined && next.votedFor !== head.votedFor) {
    throw new RangeError(`a second vote in term ${head.term}`);
  }
  const { votedFor: _, ...rest } = head;
  return {
    ...rest,
    term: next.term,
    ...(next.votedFor === undefined ? {} : { votedFor: next.votedFor }),
    commitIndex: maxIndex(head.commitIndex, next.commitIndex),
  };
}

/** Throws `Corrupt` when `marked`, the content of the mark, is of a later write than `head`. */
export function checkMark(
  directory: string,
  marked: Buffer | undefined,
  head: LogHead | undefined,
  headRecord: Buffer | undefined,
): void {
  // Absent or torn: a new log, or the machine stopped before the file was on disk. It proves
  // nothing.
  const known = marked && decodeFact<LogHead>(headKey, marked);
  if (!known) return;
  const missing = known.sequence - (head?.sequence ?? 0);
  if (missing > 0) {
    throw corruptLog(
      directory,
      `the newest ${missing} writes, up to entry ${known.last.index} and term ${known.term}, were on disk according to ${directory}/tail and are missing`,
    );
  }
  if (missing === 0 && headRecord && !headRecord.equals(marked)) {
    throw corruptLog(directory, `its newest write is not the one that ${directory}/tail names`);
  }
}

/** Its votes and acknowledgements may be lost, so that no other copy can replace it. */
export const damagedLogCure =
  'remove this member from the cluster and add it again with an empty data directory, or restore a backup if it is the only member';

export function corruptLog(directory: string, fault: string): LogError {
  const message = `the log in ${directory} is damaged, ${fault}: ${damagedLogCure}`;
  return new LogError('Corrupt', message);
}
