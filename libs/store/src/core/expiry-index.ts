/** Live keys with a time to live, by the time at which it ends. */
import { invariant } from '@orch/component';
import { orderedMap } from '../ordered-map.js';
import type { StoredEntry } from './stored-entry.js';

export class ExpiryIndex {
  private readonly byTime = orderedMap<number, Set<string>>();

  /** The earliest expiry time; undefined if no key expires. */
  get nextMs(): number | undefined {
    return this.byTime.minKey();
  }

  add(entry: StoredEntry): void {
    if (entry.expiresAtMs === 0) return;
    invariant(entry.expiresAtMs > 0, 'a key expires before time 0', { key: entry.key });
    const keys = this.byTime.get(entry.expiresAtMs);
    invariant(!keys?.has(entry.key), 'a key is in the expiry index twice', { key: entry.key });
    if (keys) keys.add(entry.key);
    else this.byTime.set(entry.expiresAtMs, new Set([entry.key]));
  }

  remove(entry: StoredEntry): void {
    if (entry.expiresAtMs === 0) return;
    const keys = this.byTime.get(entry.expiresAtMs);
    invariant(keys !== undefined, 'the expiry index lacks the time of a key', { key: entry.key });
    invariant(keys.delete(entry.key), 'the expiry index lacks a key', { key: entry.key });
    if (keys.size === 0) this.byTime.delete(entry.expiresAtMs);
  }

  /** At most `limit` keys whose time ended at or before `timeMs`: ordered by time, then by key. */
  due(timeMs: number, limit: number): string[] {
    const due: string[] = [];
    for (const [endMs, keys] of this.byTime.entries()) {
      if (endMs > timeMs || due.length >= limit) break;
      invariant(keys.size > 0, 'the expiry index holds a time without keys', { endMs });
      due.push(...[...keys].sort().slice(0, limit - due.length));
    }
    invariant(due.length <= limit, 'more keys expire than a command may delete', { limit });
    return due;
  }
}
