/**
 * Writes the stale objects of the configured resources again, so that the first key encrypts them
 * and older keys can be removed. Works in pages: each call handles a number of objects and returns
 * where the next one continues. Objects are only stored differently: admission does not run.
 */
import { errorMessage } from '@orch/component';
import { isStale, type ResourceTable } from '@orch/registry';
import { type Entry, type Operation, type ReadWriteStore, StoreError } from '@orch/store';
import {
  reencryptAttemptsMax,
  reencryptConcurrency,
  reencryptFailuresMax,
  reencryptObjectsMax,
} from '../limits.js';
import type { EncryptedStore } from './encrypted-store.js';

export interface ReencryptionDependencies {
  /** The store below the encryption. */
  readonly stored: ReadWriteStore;
  readonly encrypted: EncryptedStore;
  readonly table: ResourceTable;
  /** Limit on each read, and on each write. */
  readonly timeoutMs: number;
}

export interface ReencryptionReport {
  readonly checkedCount: number;
  readonly writtenCount: number;
  readonly failedCount: number;
  /** Why objects could not be written again, of the first of them. */
  readonly failures: readonly string[];
  /** Key of the last checked object; missing: all objects are checked. */
  readonly after?: string;
}

export class Reencryption {
  constructor(private readonly dependencies: ReencryptionDependencies) {}

  /**
   * `resources`: as `core/secrets`. `after`: from the report before. Rejects with StoreError if
   * the store is unavailable; failures of single objects are in the report.
   */
  async run(resources: Iterable<string>, after = ''): Promise<ReencryptionReport> {
    const { stored, timeoutMs } = this.dependencies;
    const page = new PageReport();
    for (const prefix of [...resources].map((resource) => `${resource}/`).sort()) {
      const isWithin = after.startsWith(prefix);
      if (!isWithin && after > prefix) continue;
      const limit = reencryptObjectsMax - page.checkedCount;
      const { entries, remainingCount } = await stored.list(prefix, {
        consistency: { kind: 'quorum' },
        timeoutMs,
        limit,
        ...(isWithin && { startAfter: after }),
      });
      for (let from = 0; from < entries.length; from += reencryptConcurrency) {
        const batch = entries.slice(from, from + reencryptConcurrency);
        await Promise.all(batch.map((entry) => this.check(entry, page)));
      }
      const last = entries.at(-1);
      if (last && (remainingCount > 0 || page.checkedCount >= reencryptObjectsMax)) {
        return page.report(last.key);
      }
    }
    return page.report();
  }

  private async check(stored: Entry, page: PageReport): Promise<void> {
    page.checkedCount += 1;
    try {
      if (await this.write(stored)) page.writtenCount += 1;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      page.fail(error);
    }
  }

  /** Whether the object was stale. Rejects with StoreError. */
  private async write(first: Entry): Promise<boolean> {
    const { stored, encrypted, timeoutMs } = this.dependencies;
    let current: Entry | undefined = first;
    for (let attempt = 1; attempt <= reencryptAttemptsMax; attempt += 1) {
      // Another writer may have deleted it.
      if (!current) return false;
      const entry = await encrypted.decrypt(current, timeoutMs);
      if (!isStale(entry)) return false;
      const { succeeded } = await encrypted.commit([this.put(entry)], timeoutMs);
      if (succeeded) return true;
      const consistency = { kind: 'quorum' } as const;
      current = (await stored.get(first.key, { consistency, timeoutMs })).entry;
    }
    throw new StoreError('Overloaded', `${first.key} changes too often to be written again`);
  }

  private put({ key, bytes, revision }: Entry): Operation {
    const offset = revisionOffsetOf(bytes);
    const rest = bytes.subarray(bytes.indexOf('"', offset));
    const keyPrefix = key.slice(0, key.indexOf('/', key.indexOf('/') + 1) + 1);
    const timeToLiveMs = this.dependencies.table.storedUnder(keyPrefix)?.definition.timeToLiveMs;
    return {
      kind: 'put',
      key,
      bytes: Buffer.concat([bytes.subarray(0, offset), rest]),
      revisionOffset: offset,
      ...(timeToLiveMs !== undefined && { timeToLiveMs }),
      expect: { kind: 'revision', revision },
    };
  }
}

class PageReport {
  checkedCount = 0;
  writtenCount = 0;
  private failedCount = 0;
  private readonly failures: string[] = [];

  fail(error: StoreError): void {
    this.failedCount += 1;
    if (this.failures.length < reencryptFailuresMax) this.failures.push(errorMessage(error));
  }

  report(after?: string): ReencryptionReport {
    const { checkedCount, writtenCount, failedCount, failures } = this;
    return {
      ...{ checkedCount, writtenCount, failedCount, failures },
      ...(after !== undefined && { after }),
    };
  }
}

const versionField = Buffer.from('"metadata":{"resourceVersion":"');

/** Stored objects begin with kind, apiVersion and, first in the metadata, the resource version. */
function revisionOffsetOf(bytes: Buffer): number {
  const at = bytes.indexOf(versionField);
  if (at < 0) throw new StoreError('Corrupt', 'a stored object has no resource version');
  return at + versionField.length;
}
