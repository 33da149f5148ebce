/** What a caller is told when a commit gets no result: "not taken" only where that is certain. */
import type { LogError } from '@orch/raft';
import { StoreError } from '../versioned-store.js';

/** Undefined: trying again may help. `maybeTaken`: another try of the same command may be in the log. */
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
    ? new StoreError('OutcomeUnknown', 'the store stopped while the commit was under way')
    : new StoreError('Stopped', 'the store is stopped');
}

/** The cluster no longer remembers which commands of this process it has applied. */
export function evicted(): StoreError {
  return new StoreError(
    'OutcomeUnknown',
    'this replica was silent for so long that the cluster has forgotten it: the commit may have taken effect',
  );
}

export function missedResult(): StoreError {
  return new StoreError(
    'OutcomeUnknown',
    'the commit was decided while this replica was brought up to date by a snapshot: look at the present state',
  );
}
