/** Exit codes of all processes. Supervisors and tests depend on the numbers; never change them. */
export const exitCodes = {
  /** Ordered shutdown on request. */
  ok: 0,
  /**
   * The start failed, or an expected failure ended the process; the last log line contains the
   * reason.
   */
  failed: 1,
  /** The command line or a configuration file is invalid. */
  usage: 2,
  /** An unhandled error: a bug in this program. */
  unexpected: 3,
  /** The ordered shutdown exceeded its deadline. */
  shutdownTimeout: 4,
  /** Leadership was lost; the supervisor restarts the process, which joins the election again. */
  leadershipLost: 5,
  /** An invariant is broken; continuing could corrupt state. */
  invariantBroken: 6,
  /** Stored data could not be written, or is corrupt and could not be repaired. */
  storageFailed: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error that ends the process with a specific exit code. */
export class FatalError extends Error {
  override readonly name = 'FatalError';

  constructor(
    readonly exitCode: ExitCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
