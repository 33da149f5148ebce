/** The errors with which the server may refuse malformed input. */
import { StatusError } from '@orch/apimachinery';

/** The result of `work`, or undefined if it refuses the client's input. Other errors are faults. */
export function doneOrRefused<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof StatusError && error.code >= 400 && error.code < 500) return undefined;
    throw error;
  }
}

/** Fails if decoding has changed the prototype of all objects. */
export function checkInherited(): void {
  const shown = Object.keys(Object.prototype);
  if (shown.length > 0) throw new Error(`every object now inherits ${shown.join(', ')}`);
}
