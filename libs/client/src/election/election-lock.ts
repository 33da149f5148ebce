/**
 * The lock of an election: a record of the holder, in an object of the API. A lock writes on top of
 * the version that it read or wrote last, so that of two concurrent writers one gets a conflict.
 */
import type { CallOptions } from '../rest/resource-client.js';

/** Times are texts of the API. */
export interface ElectionRecord {
  /** Empty: released. */
  readonly holderIdentity: string;
  readonly leaseDurationSeconds: number;
  readonly acquireTime?: string | undefined;
  readonly renewTime?: string | undefined;
  readonly transitionCount: number;
}

export interface ObservedRecord extends ElectionRecord {
  /** Changes with each renewal. */
  readonly renewal: string;
}

export interface ElectionLock {
  /** Returns the record; undefined if its object does not exist. */
  read(call: CallOptions): Promise<ObservedRecord | undefined>;
  /**
   * Stores the record and returns it. Rejects with a conflict, `AlreadyExists` or `NotFound` if
   * another writer was faster.
   */
  write(record: ElectionRecord, call: CallOptions): Promise<ObservedRecord>;
}
