/**
 * Hashes everything stored at one revision, from the bytes themselves: equal on every replica with
 * the same content, whether it was applied, restored or installed. More costly than the running
 * hash.
 */
import { createHash } from 'node:crypto';
import type { LoopClock } from '@orch/component';
import { contentHashPageEntries } from '../limits.js';
import type { ListOptions, ListResult, Revision } from '../versioned-store.js';

export interface ContentHash {
  readonly revision: Revision;
  /** SHA-256, hexadecimal. */
  readonly hash: string;
  readonly keyCount: number;
}

/** Rejects like `list`, with `Compacted` if a compaction overtakes it. */
export async function hashContent(
  list: (prefix: string, options: ListOptions) => Promise<ListResult>,
  clock: LoopClock,
  revision: Revision,
  timeoutMs: number,
): Promise<ContentHash> {
  const digest = createHash('sha256');
  const consistency = { kind: 'exact', revision } as const;
  let keyCount = 0;
  let startAfter: string | undefined;
  for (;;) {
    const { entries, remainingCount } = await list('', {
      consistency,
      timeoutMs,
      limit: contentHashPageEntries,
      ...(startAfter === undefined ? {} : { startAfter }),
    });
    for (const { key, bytes, revision: at, createRevision } of entries) {
      const key8 = Buffer.from(key);
      const head = Buffer.allocUnsafe(20);
      head.writeUInt32BE(key8.length, 0);
      head.writeUIntBE(at, 4, 6);
      head.writeUIntBE(createRevision, 10, 6);
      head.writeUInt32BE(bytes.length, 16);
      digest.update(head).update(key8).update(bytes);
    }
    keyCount += entries.length;
    if (remainingCount === 0) return { revision, hash: digest.digest('hex'), keyCount };
    startAfter = entries.at(-1)!.key;
    await clock.nextTurn();
  }
}
