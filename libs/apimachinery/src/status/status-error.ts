/**
 * The only error class of the interface: an expected failure with its complete Status. Callers
 * decide by `reason` and `code`, never by the message.
 */
import type { Status, StatusDetails, StatusMetadata, StatusReason } from './status.js';

export interface Failure {
  readonly code: number;
  /** Absent for failures without a reason in the interface. */
  readonly reason?: StatusReason;
  readonly message: string;
  readonly details?: StatusDetails;
  /** Empty by default. */
  readonly metadata?: StatusMetadata;
}

export class StatusError extends Error {
  readonly status: Status;

  constructor(failure: Failure) {
    super(failure.message);
    this.name = 'StatusError';
    this.status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: failure.metadata ?? {},
      status: 'Failure',
      message: failure.message,
      ...(failure.reason !== undefined && { reason: failure.reason }),
      ...(failure.details !== undefined && { details: failure.details }),
      code: failure.code,
    };
  }

  /** HTTP status code. */
  get code(): number {
    return this.status.code;
  }

  get reason(): StatusReason | undefined {
    return this.status.reason;
  }

  /** Seconds after which the client may retry; undefined if not specified. */
  get retryAfterSeconds(): number | undefined {
    return this.status.details?.retryAfterSeconds;
  }
}

/** Reports whether the error is a Status with that reason. */
export function isStatus(error: unknown, reason: StatusReason): error is StatusError {
  return error instanceof StatusError && error.reason === reason;
}
