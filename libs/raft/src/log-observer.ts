/** What a log tells whoever measures it. Calls are synchronous and must be quick. */
export interface LogObserver {
  /** One synced write: how many entries and bytes it carried and how long it took. */
  synced(entryCount: number, byteCount: number, durationMs: number): void;
}
