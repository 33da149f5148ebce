/** Exit codes of every process of the house. Supervisors and tests rely on them; never renumber. */
export const exitCodes = {
  /** Ended as asked. */
  ok: 0,
  /** Could not start, or ended because of an expected failure; the last log line says why. */
  failed: 1,
  /** The command line or a configuration file is wrong. */
  usage: 2,
  /** An error nobody handled: a fault of this program. */
  unexpected: 3,
  /** The ordered shutdown did not end within its deadline. */
  shutdownTimeout: 4,
  /** Leadership was lost; start again and stand for election. */
  leadershipLost: 5,
  /** A broken invariant: going on could have corrupted state. */
  invariantBroken: 6,
  /** Stored data could not be written, or was found corrupt and could not be repaired. */
  storageFailed: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error that ends the process with an exit code of its own. */
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
