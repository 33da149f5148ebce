/**
 * An error response of a server: its Status object as an error. Callers branch on `reason`; the
 * message is for people.
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
    /** The Status object as received, if the response had one. */
    readonly body?: StatusBody,
  ) {
    super(message);
  }
}

/** Reasons for the codes of responses without a Status. */
const reasonByCode: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Converts a Status object of a response or of an ERROR event of a watch. */
export function fromStatus(status: StatusBody, statusCode = status.code ?? 500): ApiError {
  return new ApiError(
    statusCode,
    status.reason || reasonByCode[statusCode] || 'Unknown',
    status.message || `the server responded with ${statusCode}`,
    status.details ?? {},
    status,
  );
}

/** Converts a response of 400 or above. `retryAfter` is the header's value, in seconds. */
export function fromResponse(statusCode: number, text: string, retryAfter?: string): ApiError {
  const body = parseStatus(text);
  const seconds = retryAfter === undefined ? Number.NaN : Number(retryAfter);
  const status = body ?? { message: text.trim().slice(0, 1024) };
  if (!Number.isFinite(seconds)) return fromStatus(status, statusCode);
  return fromStatus(
    { ...status, details: { ...status.details, retryAfterSeconds: seconds } },
    statusCode,
  );
}

function parseStatus(text: string): StatusBody | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const value = JSON.parse(text) as StatusBody;
    return value.kind === 'Status' ? value : undefined;
  } catch {
    // Not JSON: the text becomes the message.
    return undefined;
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
/** Whether the requested version is compacted, so that the client must list again. */
export const isGone = (error: unknown): boolean => hasCode(error, 410);
/** Whether the server has not reached the requested version; another server may have. */
export const isResourceVersionTooLarge = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.statusCode === 504 &&
  (error.details.causes ?? []).some((cause) => cause.reason === 'ResourceVersionTooLarge');
export const isInvalid = (error: unknown): boolean => hasCode(error, 422);
/** Whether a create was rejected because its namespace is being deleted. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.details.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating');
