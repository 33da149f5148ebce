/** What a client may be told when what it sent cannot be read. */
import { StatusError } from '@orch/apimachinery';

/** What `work` gives; undefined when it refuses the client's input. Any other error is a fault. */
export function doneOrRefused<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof StatusError && error.code >= 400 && error.code < 500) return undefined;
    throw error;
  }
}

/** Fails where reading has changed what every object of this process inherits. */
export function checkInherited(): void {
  const shown = Object.keys(Object.prototype);
  if (shown.length > 0) throw new Error(`every object now has ${shown.join(', ')}`);
}
