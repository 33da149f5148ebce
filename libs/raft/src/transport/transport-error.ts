/** Why an operation between two replicas failed. A retry is always safe. */

export type TransportErrorCode =
  /** A certificate file is missing, unreadable or does not fit; the message names file and cure. */
  | 'BadCertificate'
  /** The listen address is taken or not of this machine. */
  | 'BadAddress'
  /** Not one of the peers of `setPeers`. */
  | 'UnknownPeer'
  /** No connection, or it broke. */
  | 'Unreachable'
  /** The peer said no; the message says why. */
  | 'Refused'
  | 'DeadlineExceeded'
  | 'Stopped';

export class TransportError extends Error {
  override readonly name = 'TransportError';
  constructor(
    readonly code: TransportErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
