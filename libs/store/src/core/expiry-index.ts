/** Live keys with a time to live, by the moment at which it ends. */
import { orderedMap } from './ordered-map.js';
import type { StoredEntry } from './stored-entry.js';

export class ExpiryIndex {
  readonly #byTime = orderedMap<number, Set<string>>();

  /** Undefined when nothing ever expires. */
  get nextMs(): number | undefined {
    return this.#byTime.minKey();
  }

  add(entry: StoredEntry): void {
    if (entry.expiresAtMs === 0) return;
    const keys = this.#byTime.get(entry.expiresAtMs);
    if (keys) keys.add(entry.key);
    else this.#byTime.set(entry.expiresAtMs, new Set([entry.key]));
  }

  remove(entry: StoredEntry): void {
    if (entry.expiresAtMs === 0) return;
    const keys = this.#byTime.get(entry.expiresAtMs);
    keys?.delete(entry.key);
    if (keys?.size === 0) this.#byTime.delete(entry.expiresAtMs);
  }

  /** At most `limit` keys whose time ended at or before `timeMs`: by time, then by key. */
  due(timeMs: number, limit: number): string[] {
    const due: string[] = [];
    for (const [endMs, keys] of this.#byTime.entries()) {
      if (endMs > timeMs || due.length >= limit) break;
      due.push(...[...keys].sort().slice(0, limit - due.length));
    }
    return due;
  }
}
