/** Resolves in the event loop's next turn, after the I/O that is due: how long work gives way. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
