/** The two time formats of the interface. */

/** Whole seconds, as in `creationTimestamp`: `2021-06-01T10:00:00Z`. */
export function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Microseconds, as in lease renewals: `2021-06-01T10:00:00.123000Z`. */
export function microTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}
