/**
 * Assertions. `invariant` checks a cheap condition and is always on. `verify` checks a costly one
 * and is on only where `ORCH_VERIFY=1` is set, in tests and in the simulation. Both throw
 * InvariantError: state may be corrupt, so the process must end (`Lifecycle.fail` gives it exit
 * code `invariantBroken`).
 */

/** Values that explain a broken invariant; part of the error's message. */
export type InvariantDetails = Readonly<Record<string, unknown>>;

export class InvariantError extends Error {
  override readonly name = 'InvariantError';

  constructor(message: string, details?: InvariantDetails) {
    super(details ? `${message} (${formatDetails(details)})` : message);
  }
}

/**
 * Throws InvariantError unless `condition` holds. Keep `message` constant and put values into
 * `details`.
 */
export function invariant(
  condition: boolean,
  message: string,
  details?: InvariantDetails,
): asserts condition {
  if (!condition) throw new InvariantError(message, details);
}

let verifying = process.env.ORCH_VERIFY === '1';

/** Whether `verify` evaluates its conditions in this thread. */
export function isVerifying(): boolean {
  return verifying;
}

/** Switches `verify` on or off in this thread. Called by tests and the simulation only. */
export function setVerifying(enabled: boolean): void {
  verifying = enabled;
}

/** Throws InvariantError unless `condition()` holds. Does nothing unless verification is on. */
export function verify(condition: () => boolean, message: string): void {
  if (verifying && !condition()) throw new InvariantError(message);
}

/**
 * Whether `error` or one of its causes is a broken invariant. Compares names, because an error that
 * crosses threads loses its class.
 */
export function isInvariantError(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === 'InvariantError') return true;
  }
  return false;
}

function formatDetails(details: InvariantDetails): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ');
}
