/** What a failure of the store means to a client of the interface. */
import {
  internalError,
  requestEntityTooLarge,
  resourceExpired,
  StatusError,
  serviceUnavailable,
  timeout,
  tooLargeResourceVersion,
  tooManyRequests,
} from '@orch/apimachinery';
import { StoreError } from '@orch/store';

const retryAfterSeconds = 1;

/** The error of the response: a Status for an error of the store, any other error unchanged. */
export function statusOfStoreError(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  switch (error.code) {
    case 'Compacted':
      return resourceExpired();
    case 'FutureRevision':
      return tooLargeResourceVersion('', error.revision ?? 0, retryAfterSeconds);
    case 'Overloaded':
      return tooManyRequests(
        'the store has too many writes waiting, please try again later',
        retryAfterSeconds,
      );
    case 'Unavailable':
    case 'Stopped':
      return serviceUnavailable(`the store is unavailable: ${error.message}`, retryAfterSeconds);
    case 'OutcomeUnknown':
      return timeout(
        `the write may or may not have taken effect: ${error.message}`,
        retryAfterSeconds,
      );
    case 'TooLarge':
      return requestEntityTooLarge(error.message);
    case 'NoSpace':
      return new StatusError({
        code: 507,
        message: `the store is full: ${error.message}`,
      });
    case 'BadDirectory':
    case 'Corrupt':
    case 'Undecryptable':
      return internalError(error.message);
  }
}
