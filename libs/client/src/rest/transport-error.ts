/** A request without a response. States whether the server may have acted on it. */

export type TransportErrorCode =
  /** No connection was established: the request was not sent. */
  | 'connect_failed'
  /** The connection broke after sending: the outcome is unknown. */
  | 'connection_lost'
  | 'timeout'
  /** The rate limit of the client would have delayed the request beyond its deadline. */
  | 'throttled'
  | 'response_too_large'
  /** The response violates the protocol. */
  | 'malformed_response'
  | 'client_closed';

export class TransportError extends Error {
  override readonly name = 'TransportError';

  constructor(
    readonly code: TransportErrorCode,
    message: string,
    /** False only if the server certainly did not act on the request. */
    readonly requestSent: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Converts an error of an established connection. Connect errors are `TransportError`s already. */
export function fromSocketError(error: unknown, server: string): TransportError {
  if (error instanceof TransportError) return error;
  const code = (error as { code?: string } | undefined)?.code ?? '';
  const text = error instanceof Error && error.message !== '' ? error.message : code;
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new TransportError('timeout', `${server} did not respond in time`, true);
  }
  return new TransportError('connection_lost', `connection to ${server} lost: ${text}`, true);
}
