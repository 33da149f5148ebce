/**
 * The answer of a server that refused: its Status object as an error. `reason` is what to branch on;
 * the message is for people.
 */

export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface StatusBody {
  kind?: string;
  status?: string;
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code?: number;
}

export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** HTTP status code. */
    readonly statusCode: number,
    /** Machine-readable: `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Forbidden`, ... */
    readonly reason: string,
    message: string,
    readonly details: StatusDetails = {},
    /** The Status object as received, when there was one. */
    readonly body?: StatusBody,
  ) {
    super(message);
  }
}

function hasCode(error: unknown, statusCode: number, reason?: string): boolean {
  return (
    error instanceof ApiError &&
    error.statusCode === statusCode &&
    (reason === undefined || error.reason === reason)
  );
}

export const isNotFound = (error: unknown): boolean => hasCode(error, 404);
export const isConflict = (error: unknown): boolean => hasCode(error, 409, 'Conflict');
export const isAlreadyExists = (error: unknown): boolean => hasCode(error, 409, 'AlreadyExists');
/** The version asked for is no longer kept: list again. */
export const isGone = (error: unknown): boolean => hasCode(error, 410);
export const isForbidden = (error: unknown): boolean => hasCode(error, 403);
export const isInvalid = (error: unknown): boolean => hasCode(error, 422);
/** A create refused because its namespace is being deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.details.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');
