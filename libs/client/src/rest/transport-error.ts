/** A request that got no answer. Says whether the server may have acted on it. */

export type TransportErrorCode =
  /** No connection could be made: the request was not sent. */
  | 'connect_failed'
  /** The connection broke after sending: the outcome is unknown. */
  | 'connection_lost'
  | 'timeout'
  /** The client's own rate limit would have held it beyond its deadline. */
  | 'throttled'
  | 'response_too_large'
  /** The answer is not what the protocol says. */
  | 'malformed_response'
  | 'client_closed';

export class TransportError extends Error {
  override readonly name = 'TransportError';

  constructor(
    readonly code: TransportErrorCode,
    message: string,
    /** False when the server certainly did not act on it. */
    readonly requestSent: boolean,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Failures after the connection was made; those before are told by the connection itself. */
export function fromSocketError(error: unknown, server: string): TransportError {
  if (error instanceof TransportError) return error;
  const code = (error as { code?: string } | undefined)?.code ?? '';
  const text = error instanceof Error && error.message !== '' ? error.message : code;
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return new TransportError('timeout', `${server} did not answer in time`, true);
  }
  return new TransportError('connection_lost', `connection to ${server} lost: ${text}`, true);
}
