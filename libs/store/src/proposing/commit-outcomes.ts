/** The error of a commit without a result: `Unavailable` only if it certainly had no effect. */
import type { LogError } from '@orch/raft';
import { StoreError } from '../versioned-store.js';

/**
 * Returns undefined if another attempt may succeed. `maybeTaken`: an earlier attempt of the same
 * command may be in the log.
 */
export function refusalOf(error: LogError, maybeTaken: boolean): StoreError | undefined {
  switch (error.code) {
    case 'TooLarge':
      return new StoreError('TooLarge', error.message);
    case 'QueueFull':
      return maybeTaken ? undefined : new StoreError('Overloaded', error.message);
    case 'Stopped':
      return stopped(maybeTaken);
    case 'NoLeader':
    case 'NoQuorum':
    case 'DeadlineExceeded':
      return undefined;
    default:
      return maybeTaken
        ? new StoreError('OutcomeUnknown', `the commit may have been taken: ${error.message}`)
        : new StoreError('Unavailable', `the commit was not taken: ${error.message}`);
  }
}

export function timedOut(maybeTaken: boolean): StoreError {
  return maybeTaken
    ? new StoreError(
        'OutcomeUnknown',
        'the commit did not finish in time and may still take effect',
      )
    : new StoreError('Unavailable', 'the commit was not taken in time: no leader could be reached');
}

export function stopped(maybeTaken: boolean): StoreError {
  return maybeTaken
    ? new StoreError('OutcomeUnknown', 'the store stopped while the commit was in flight')
    : new StoreError('Stopped', 'the store is stopped');
}

/**
 * The cluster evicted this proposer, so that it no longer knows which of its commands were applied.
 */
export function evicted(): StoreError {
  return new StoreError(
    'OutcomeUnknown',
    'the cluster evicted this replica as a proposer because it was silent too long: the commit may have taken effect',
  );
}

export function missedResult(): StoreError {
  return new StoreError(
    'OutcomeUnknown',
    'the commit was decided while this replica installed a snapshot: read the present state',
  );
}
