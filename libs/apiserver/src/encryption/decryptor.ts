/**
 * Decrypts stored entries and caches the results up to a number of bytes. Entries that are not
 * encrypted are returned as they are. An entry that the first key of its resource did not encrypt
 * is marked as stale, so that an update which changes nothing writes it again.
 */
import { errorMessage } from '@orch/component';
import { markStale } from '@orch/registry';
import {
  DecryptionError,
  isEncrypted,
  KmsError,
  noMatchingPrefix,
  type ResourceEncryption,
} from '@orch/security';
import { type Entry, StoreError } from '@orch/store';
import { LRUCache } from 'lru-cache';
import { decryptedCacheBytesMax } from '../limits.js';
import { bytesOf } from './payload.js';

const openingBrace = 0x7b;

/** By `<group head>/<plural>`, as `core/secrets`. */
export type ResourceEncryptions = ReadonlyMap<string, ResourceEncryption>;

export class Decryptor {
  private readonly cache = new LRUCache<Entry, Entry>({
    maxSize: decryptedCacheBytesMax,
    sizeCalculation: ({ bytes }) => bytes.length + 1,
  });
  private lastPrefix = '';
  private lastResource: ResourceEncryption | undefined;

  /** Whether nothing is encrypted when it is written. */
  readonly isEmpty: boolean;

  constructor(private readonly resources: ResourceEncryptions) {
    this.isEmpty = resources.size === 0;
  }

  get resourceNames(): readonly string[] {
    return [...this.resources.keys()];
  }

  /** Undefined if the resource of the key is not in the configuration. */
  encryptionOf(key: string): ResourceEncryption | undefined {
    if (this.isEmpty) return undefined;
    // The entries of a list have the same resource.
    if (this.lastPrefix !== '' && key.startsWith(this.lastPrefix)) return this.lastResource;
    const resourceKey = key.slice(0, key.indexOf('/', key.indexOf('/') + 1));
    this.lastPrefix = `${resourceKey}/`;
    this.lastResource = this.resources.get(resourceKey);
    return this.lastResource;
  }

  /** Whether the entry is encrypted, or of a resource of the configuration. */
  concerns({ key, bytes }: Entry): boolean {
    // Most entries are JSON objects: the first byte decides.
    if (bytes[0] !== openingBrace && isEncrypted(bytes)) return true;
    return !this.isEmpty && this.encryptionOf(key) !== undefined;
  }

  /** As `concerns`, for one of the entries. Allocates nothing: most lists have none. */
  concernsAny(entries: readonly (Entry | undefined)[]): boolean {
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index];
      if (entry && this.concerns(entry)) return true;
    }
    return false;
  }

  /**
   * The same array if nothing is encrypted, a promise if a key has to be fetched or something
   * cannot be decrypted. Rejects with StoreError `Undecryptable` or `Unavailable`.
   */
  decryptAll(entries: readonly Entry[]): readonly Entry[] | Promise<readonly Entry[]> {
    let decrypted: (Entry | Promise<Entry>)[] | undefined;
    let isAsynchronous = false;
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index]!;
      if (!this.concerns(entry)) continue;
      const result = this.decrypt(entry);
      if (result === entry) continue;
      decrypted ??= [...entries];
      decrypted[index] = result;
      isAsynchronous ||= result instanceof Promise;
    }
    if (!decrypted) return entries;
    return isAsynchronous ? Promise.all(decrypted) : (decrypted as Entry[]);
  }

  /** As `decryptAll`, for one entry. Never throws. */
  decrypt(entry: Entry): Entry | Promise<Entry> {
    if (!this.concerns(entry)) return entry;
    const encryption = this.encryptionOf(entry.key);
    const encrypted = isEncrypted(entry.bytes);
    const cached = this.cache.get(entry);
    if (cached) return cached;
    try {
      if (!encryption) throw noMatchingPrefix(true);
      if (!encrypted) return plaintextEntry(entry, encryption);
      const decrypted = encryption.decrypt(entry.bytes, Buffer.from(entry.key));
      if (!(decrypted instanceof Promise)) return this.opened(entry, decrypted);
      return decrypted
        .then((result) => this.opened(entry, result))
        .catch((error: unknown) => Promise.reject(storeErrorOf(error, entry.key)));
    } catch (error) {
      return Promise.reject(storeErrorOf(error, entry.key));
    }
  }

  private opened(
    stored: Entry,
    { payload, isStale }: { readonly payload: Buffer; readonly isStale: boolean },
  ): Entry {
    // Readers that waited for the same key share one entry.
    return this.cache.get(stored) ?? this.keep(stored, bytesOf(payload, stored.revision), isStale);
  }

  private keep(stored: Entry, bytes: Buffer, isStale: boolean): Entry {
    const { key, createRevision, revision } = stored;
    const entry: Entry = { key, bytes, createRevision, revision, derived: undefined };
    if (isStale) markStale(entry);
    this.cache.set(stored, entry);
    return entry;
  }
}

function plaintextEntry(entry: Entry, { plaintext }: ResourceEncryption): Entry {
  if (plaintext === 'refused') throw noMatchingPrefix(false);
  if (plaintext === 'stale') markStale(entry);
  return entry;
}

/** Other errors unchanged. */
export function storeErrorOf(error: unknown, key: string): unknown {
  const text = `unable to transform key ${JSON.stringify(key)}: ${errorMessage(error)}`;
  if (error instanceof DecryptionError) return new StoreError('Undecryptable', text);
  return error instanceof KmsError ? new StoreError('Unavailable', text) : error;
}
