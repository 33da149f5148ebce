/**
 * Reads and writes of a version whose objects the store may hold in another version. Built-in kinds
 * need none: their entries are used as stored.
 */
import { type StatusError, serviceUnavailable } from '@orch/apimachinery';
import type { CommitResult, Entry, Operation, ReadWriteStore } from '@orch/store';
import { definitionAttemptsMax } from '../limits.js';

export type DecodedEntries = readonly Entry[] | Promise<readonly Entry[]>;

export interface EntryCodec {
  /**
   * The entries in the served version, in the same order; synchronous if nothing has to be
   * converted.
   */
  decode(entries: readonly Entry[], deadlineMs: number): DecodedEntries;
  /** The operation on the stored version. Operations on other kinds pass unchanged. */
  encode(operation: Operation, deadlineMs: number): Operation | Promise<Operation>;
  /** Whether the key belongs to the kind. */
  owns(key: string): boolean;
  /**
   * A check that the version is still defined as the codec assumes. Throws 503 if it is known not
   * to be.
   */
  definitionCheck(): Operation;
}

/** A commit of operations in the served version; the result is in that version as well. */
export async function commitEncoded(
  store: ReadWriteStore,
  codec: EntryCodec,
  operations: readonly Operation[],
  leftMs: () => number,
  deadlineMs: number,
): Promise<CommitResult> {
  const encoded = await Promise.all(
    operations.map((operation) => codec.encode(operation, deadlineMs)),
  );
  for (let attempt = 1; ; attempt += 1) {
    const result = await store.commit([...encoded, codec.definitionCheck()], leftMs());
    if (result.succeeded) {
      const own = result.entries.slice(0, operations.length);
      const entries = await Promise.all(own.map((entry) => decodeOwn(codec, entry, deadlineMs)));
      return { ...result, entries };
    }
    const failed = operations[result.failedOperation];
    if (failed) {
      if (!codec.owns(failed.key)) return result;
      return { ...result, current: await decodeOwn(codec, result.current, deadlineMs) };
    }
    // The definition has other conditions now. Whether it still describes objects in the same way
    // is
    // checked by `definitionCheck` above.
    if (attempt === definitionAttemptsMax) throw definitionChanged();
  }
}

async function decodeOwn<T extends Entry | undefined>(
  codec: EntryCodec,
  entry: T,
  deadlineMs: number,
): Promise<T | Entry | undefined> {
  if (!entry || !codec.owns(entry.key)) return entry;
  return (await codec.decode([entry], deadlineMs))[0];
}

/** 503: the definition has changed under the request, which starts over with the new one. */
export function definitionChanged(): StatusError {
  return serviceUnavailable('the definition of the resource has just changed, please try again', 1);
}
