/** What the store tells whoever measures it. Calls are synchronous and must be quick. */
export interface StoreObserver {
  /** A commit of this replica was applied: time from the call to its result. */
  committed(durationMs: number, operationCount: number): void;
  /** A commit did not get a result; `code` as in `StoreError`. */
  commitFailed(code: string): void;
  /** One slice of the log was applied and handed to the watches. */
  applied(entryCount: number, durationMs: number): void;
  /** One read barrier round and the readers it served. */
  barrier(durationMs: number, readerCount: number): void;
  /** One batch reached the state database. */
  stateWritten(recordCount: number, byteCount: number, durationMs: number): void;
  /** The state database was synced and the log cut. */
  checkpointed(durationMs: number): void;
}
