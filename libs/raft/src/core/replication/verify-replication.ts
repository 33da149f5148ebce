/** Costly checks of the leader's view of all followers, where `CoreOptions.verifies` is set. */
import { invariant } from '../invariant.js';
import type { CoreState } from '../state/core-state.js';
import type { Replication } from './replication.js';

/** Throws InvariantError when the progress of a follower contradicts the log of the leader. */
export function verifyReplication({ log }: CoreState, replication: Replication): void {
  const { index: lastIndex } = log.last;
  for (const progress of replication.all) {
    const { state, matchIndex, nextIndex, appliedIndex, inFlight } = progress;
    invariant(matchIndex < nextIndex, 'a follower matches an entry that is still to be sent');
    invariant(nextIndex <= lastIndex + 1, 'the next index is beyond the log');
    invariant(appliedIndex <= lastIndex, 'a follower has applied more than the log holds');
    invariant(
      progress.commitSent <= lastIndex,
      'a follower was sent a commit index beyond the log',
    );
    invariant(
      state === 'replicate' || inFlight.messageCount === 0,
      'messages are in flight to a follower that is probed or receives a snapshot',
    );
    invariant(
      !progress.previous || progress.previous.index === nextIndex - 1,
      'the previous point of a follower is not the one before its next entry',
    );
  }
}
