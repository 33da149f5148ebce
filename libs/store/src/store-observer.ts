/** Measurements that the store reports. Calls are synchronous and must return quickly. */
export interface StoreObserver {
  /** A commit of this replica was applied: time from the call to its result. */
  committed(durationMs: number, operationCount: number): void;
  /** A commit failed with this code of StoreError. */
  commitFailed(code: string): void;
  /** One slice of the log was applied and delivered to the watches. */
  applied(entryCount: number, durationMs: number): void;
  /** A snapshot replaced the state, or the state was opened. */
  replaced(): void;
  /** One read barrier round and the readers it served. */
  barrier(durationMs: number, readerCount: number): void;
  /** One batch was written to the state database. */
  stateWritten(recordCount: number, byteCount: number, durationMs: number): void;
  /** The state database was synced and the log compacted. */
  checkpointed(durationMs: number): void;
}
