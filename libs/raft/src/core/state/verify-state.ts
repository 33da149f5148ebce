/**
 * Costly checks of the whole state of a core, after every step where `CoreOptions.verifies` is set:
 * in unit tests, in the simulation, and on servers with `ORCH_VERIFY=1`.
 */

import { invariant } from '../invariant.js';
import { follows } from '../log/entry-checksum.js';
import type { Configuration, Entry, LogIndex } from '../types.js';
import type { CoreState } from './core-state.js';

/**
 * Newest entries whose checksums are computed again; of all others only index and term are
 * compared.
 */
const checksumEntryCount = 16;

/** Throws InvariantError when parts of the state contradict each other. */
export function verifyState(state: CoreState): void {
  const { log, writes, configurations } = state;
  invariant(log.start.index <= log.last.index, 'the log ends before it starts');
  invariant(log.last.term <= state.term, 'the log is of a later term than this replica');
  invariant(state.commitIndex <= log.last.index, 'the commit index is after the end of the log');
  invariant(state.commitIndex >= log.start.index, 'an uncommitted entry was compacted');
  invariant(state.appliedIndex <= state.commitIndex, 'an uncommitted entry was applied');
  invariant(writes.stableIndex <= log.last.index, 'an entry is durable that the log does not hold');
  const isLeader = state.activeRole === 'leader';
  invariant(!isLeader || state.leader === state.id, 'a leader follows another');
  invariant(!isLeader || state.votedFor === state.id, 'a leader has voted for another');
  verifyEntries(state);
  let before: LogIndex | undefined;
  for (const { index, configuration } of configurations.all) {
    invariant(before === undefined || index > before, 'configurations are out of order');
    invariant(index <= log.last.index, 'a configuration is not in the log');
    verifyMembers(configuration);
    before = index;
  }
}

/**
 * Every entry in memory continues the one before and has the term that the log knows for its index.
 */
function verifyEntries({ log }: CoreState): void {
  const first = log.firstCachedIndex;
  if (first === undefined) return;
  let before: Entry | undefined;
  for (let index: number = first; index <= log.last.index; index += 1) {
    const entry = log.cached((before ? before.index + 1 : first) as LogIndex);
    invariant(entry !== undefined && entry.index === index, 'an entry is missing in memory');
    invariant(log.termAt(entry.index) === entry.term, 'an entry has another term than its index');
    invariant(!before || entry.term >= before.term, 'terms fall in the log');
    const isNewest = index > log.last.index - checksumEntryCount;
    invariant(
      !before || !isNewest || follows(before, entry),
      'an entry does not match its checksum',
    );
    before = entry;
  }
}

function verifyMembers({ voters, learners, outgoing = [] }: Configuration): void {
  const voterIds = new Set(voters.map(({ id }) => id));
  const outgoingIds = new Set(outgoing.map(({ id }) => id));
  invariant(voterIds.size === voters.length, 'a voter is listed twice');
  invariant(outgoingIds.size === outgoing.length, 'an outgoing voter is listed twice');
  for (const { id } of learners) {
    invariant(!voterIds.has(id) && !outgoingIds.has(id), 'a learner is a voter');
  }
}
