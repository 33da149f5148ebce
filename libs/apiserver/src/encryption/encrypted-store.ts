/**
 * Encrypts the commits to a store and decrypts its reads, so that the store, with everything that
 * it writes and sends, holds ciphertext of the configured resources only. The keys
 * can be replaced at any time; readers that have started use the previous ones.
 */
import { type Awaitable, type Clock, DeadlineError, withDeadline } from '@orch/component';
import { DecodedWatch } from '@orch/registry';
import {
  type CommitResult,
  type Entry,
  type GetResult,
  type ListOptions,
  type ListResult,
  type Operation,
  type ReadOptions,
  type ReadWriteStore,
  type Revision,
  StoreError,
  type WatchEvent,
  type WatchHandle,
  type WatchOptions,
} from '@orch/store';
import { LRUCache } from 'lru-cache';
import {
  decryptedCacheBytesMax,
  decryptSliceEntries,
  watchDecryptionTimeoutMs,
} from '../limits.js';
import { Decryptor, type ResourceEncryptions, storeErrorOf } from './decryptor.js';
import { payloadOf } from './payload.js';

export class EncryptedStore implements ReadWriteStore {
  private decryptor: Decryptor;
  private readonly events = new LRUCache<WatchEvent, WatchEvent>({
    maxSize: decryptedCacheBytesMax,
    sizeCalculation: ({ entry }) => entry.bytes.length + 1,
  });

  constructor(
    private readonly store: ReadWriteStore,
    private readonly clock: Clock,
  ) {
    this.decryptor = new Decryptor(new Map());
  }

  /** Uses these keys from now on. Entries decrypted with the previous ones are dropped. */
  setResources(resources: ResourceEncryptions): void {
    this.decryptor = new Decryptor(resources);
  }

  /** The configured resources, as `core/secrets`. */
  resourceNames(): readonly string[] {
    return this.decryptor.resourceNames;
  }

  get(key: string, options: ReadOptions): Awaitable<GetResult> {
    const { decryptor } = this;
    const result = this.store.get(key, options);
    const isPending = result instanceof Promise;
    if (!isPending && !(result.entry && decryptor.concerns(result.entry))) return result;
    const untilMs = this.clock.monotonicMs() + options.timeoutMs;
    if (!isPending) return this.decrypted(decryptor, result, untilMs);
    return result.then((stored) => this.decrypted(decryptor, stored, untilMs));
  }

  private decrypted(
    decryptor: Decryptor,
    result: GetResult,
    untilMs: number,
  ): Awaitable<GetResult> {
    if (!result.entry) return result;
    const decrypted = decryptor.decrypt(result.entry);
    if (decrypted === result.entry) return result;
    const { revision } = result;
    if (!(decrypted instanceof Promise)) return { entry: decrypted, revision };
    return this.inTime(decrypted, untilMs).then((entry) => ({ entry, revision }));
  }

  async list(prefix: string, options: ListOptions): Promise<ListResult> {
    const { decryptor } = this;
    const untilMs = this.clock.monotonicMs() + options.timeoutMs;
    const result = await this.store.list(prefix, options);
    if (!decryptor.concernsAny(result.entries)) return result;
    const entries = await this.inTime(decryptInSlices(decryptor, result.entries), untilMs);
    return entries === result.entries ? result : { ...result, entries };
  }

  watch(options: WatchOptions): WatchHandle {
    const decode = (entries: readonly Entry[]) => {
      const decrypted = this.decryptor.decryptAll(entries);
      if (!(decrypted instanceof Promise)) return decrypted;
      return this.inTime(decrypted, this.clock.monotonicMs() + watchDecryptionTimeoutMs);
    };
    return new DecodedWatch(this.store, options, decode, this.events);
  }

  async commit(operations: readonly Operation[], timeoutMs: number): Promise<CommitResult> {
    const { decryptor } = this;
    const untilMs = this.clock.monotonicMs() + timeoutMs;
    const encrypted = encryptAll(decryptor, operations);
    if (encrypted === operations) {
      return this.commitEncrypted(decryptor, operations, untilMs, timeoutMs);
    }
    const waited = await this.inTime(encrypted, untilMs);
    const leftMs = Math.max(1, Math.ceil(untilMs - this.clock.monotonicMs()));
    return this.commitEncrypted(decryptor, waited, untilMs, leftMs);
  }

  revision(): Revision {
    return this.store.revision();
  }

  compactedRevision(): Revision {
    return this.store.compactedRevision();
  }

  /** The entry of the store itself, decrypted. Rejects with StoreError. */
  async decrypt(stored: Entry, timeoutMs: number): Promise<Entry> {
    return this.inTime(this.decryptor.decrypt(stored), this.clock.monotonicMs() + timeoutMs);
  }

  private async commitEncrypted(
    decryptor: Decryptor,
    operations: readonly Operation[],
    untilMs: number,
    timeoutMs: number,
  ): Promise<CommitResult> {
    const result = await this.store.commit(operations, timeoutMs);
    if (!result.succeeded) {
      const { current } = result;
      const decrypted = current && decryptor.decrypt(current);
      if (decrypted === current) return result;
      return { ...result, current: await this.inTime(decrypted, untilMs) };
    }
    if (!decryptor.concernsAny(result.entries)) return result;
    const entries = result.entries.map((entry) => entry && decryptor.decrypt(entry));
    if (entries.every((entry, index) => entry === result.entries[index])) return result;
    return { ...result, entries: await this.inTime(Promise.all(entries), untilMs) };
  }

  /** Waits for a result that may need a key service. Rejects with StoreError at the deadline. */
  private async inTime<T>(result: T | Promise<T>, untilMs: number): Promise<T> {
    if (!(result instanceof Promise)) return result;
    const leftMs = Math.max(1, untilMs - this.clock.monotonicMs());
    try {
      return await withDeadline(result, leftMs, 'the key management service', this.clock);
    } catch (error) {
      if (error instanceof DeadlineError) throw new StoreError('Unavailable', error.message);
      throw error;
    }
  }
}

/** The same array if nothing is encrypted. Yields to other work between slices of long lists. */
async function decryptInSlices(
  decryptor: Decryptor,
  entries: readonly Entry[],
): Promise<readonly Entry[]> {
  if (entries.length <= decryptSliceEntries) return decryptor.decryptAll(entries);
  const all: Entry[] = [];
  let isChanged = false;
  for (let from = 0; from < entries.length; from += decryptSliceEntries) {
    const slice = entries.slice(from, from + decryptSliceEntries);
    const decrypted = await decryptor.decryptAll(slice);
    for (const entry of decrypted) all.push(entry);
    if (decrypted === slice) continue;
    isChanged = true;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return isChanged ? all : entries;
}

/** The same array if nothing is encrypted. */
function encryptAll(
  decryptor: Decryptor,
  operations: readonly Operation[],
): readonly Operation[] | Promise<readonly Operation[]> {
  if (decryptor.isEmpty) return operations;
  let encrypted: (Operation | Promise<Operation>)[] | undefined;
  for (const [index, operation] of operations.entries()) {
    const result = encryptOperation(decryptor, operation);
    if (result === operation) continue;
    encrypted ??= [...operations];
    encrypted[index] = result;
  }
  return encrypted ? Promise.all(encrypted) : operations;
}

function encryptOperation(
  decryptor: Decryptor,
  operation: Operation,
): Operation | Promise<Operation> {
  if (operation.kind === 'check') return operation;
  const { key, revisionOffset = 0 } = operation;
  const bytes = bytesToStore(operation);
  const encryption = bytes && decryptor.encryptionOf(key);
  if (!encryption) return operation;
  const ciphertext = encryption.encrypt(payloadOf(bytes, revisionOffset), Buffer.from(key));
  if (!ciphertext) return operation;
  if (!(ciphertext instanceof Promise)) return withCiphertext(operation, ciphertext);
  return ciphertext
    .then((encrypted) => withCiphertext(operation, encrypted))
    .catch((error: unknown) => Promise.reject(storeErrorOf(error, key)));
}

function bytesToStore(operation: Operation): Buffer | undefined {
  if (operation.kind === 'put') return operation.bytes;
  return operation.kind === 'delete' ? operation.lastBytes : undefined;
}

/** The store inserts no revision into ciphertext. */
function withCiphertext(
  { revisionOffset: _, ...operation }: Exclude<Operation, { kind: 'check' }>,
  ciphertext: Buffer,
): Operation {
  if (operation.kind === 'put') return { ...operation, bytes: ciphertext };
  return { ...operation, lastBytes: ciphertext };
}
