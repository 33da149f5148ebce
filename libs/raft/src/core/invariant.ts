/**
 * Assertions of the core, always on: a broken invariant could corrupt the log, so it must end the
 * process. The core imports nothing outside itself; `@orch/component` has the same function for all
 * other code and recognises both errors by name.
 */

export class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

/** Throws InvariantError unless `condition` holds. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
