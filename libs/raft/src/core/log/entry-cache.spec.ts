import { describe, expect, it } from 'vitest';
import { asLogIndex, asTerm } from '../brands.js';
import { InvariantError } from '../invariant.js';
import type { Entry, LogIndex, LogPoint } from '../types.js';
import { EntryCache } from './entry-cache.js';
import { entryAfter, logOrigin } from './entry-checksum.js';

const at = (index: number): LogIndex => asLogIndex(index);

describe('EntryCache', () => {
  it('drops the oldest above its bounds, but nothing from the floor on', () => {
    const cache = filled(new EntryCache(10, 1_000_000), 25);
    cache.evict(at(8));
    expect(cache.firstIndex).toBe(8);
    cache.evict(at(25));
    expect(cache).toMatchObject({ firstIndex: 16, entryCount: 10 });
    expect(cache.get(at(15))).toBeUndefined();
    expect(cache.get(at(16))?.index).toBe(16);
    expect(cache.get(at(26))).toBeUndefined();
  });

  it('counts bytes, too', () => {
    const cache = filled(new EntryCache(1_000, 500), 20, 100);
    cache.evict(at(20));
    expect(cache.byteCount).toBeLessThanOrEqual(500);
    expect(cache.entryCount).toBe(3);
  });

  it('keeps its place over thousands of evictions', () => {
    const cache = new EntryCache(50, 1_000_000);
    let last: LogPoint = logOrigin;
    for (let index = 1; index <= 10_000; index += 1) {
      last = add(cache, last);
      cache.evict(at(index));
      expect(cache.get(at(index))?.index).toBe(index);
    }
    expect(cache).toMatchObject({ firstIndex: 9_951, entryCount: 50 });
    expect(cache.take(at(9_990), 100, 1_000_000).map((entry) => entry.index)).toEqual(
      Array.from({ length: 11 }, (_, offset) => 9_990 + offset),
    );
  });

  it('takes at least one entry, else as many as both bounds allow', () => {
    const cache = filled(new EntryCache(100, 1_000_000), 10, 100);
    expect(cache.take(at(3), 4, 1_000_000).length).toBe(4);
    expect(cache.take(at(3), 100, 300).length).toBe(2);
    expect(cache.take(at(3), 100, 1).length).toBe(1);
    expect(cache.take(at(11), 100, 1_000)).toEqual([]);
  });

  it('forgets from either end, and starts anywhere once it is empty', () => {
    const cache = filled(new EntryCache(100, 1_000_000), 10);
    cache.truncateFrom(at(8));
    cache.compactTo(at(3));
    expect(cache.take(at(4), 100, 1_000_000).map((entry) => entry.index)).toEqual([4, 5, 6, 7]);
    const gap: Entry = { ...cache.get(at(7))!, index: at(9) };
    expect(() => cache.append(gap)).toThrow(InvariantError);
    cache.compactTo(at(7));
    expect(cache).toMatchObject({ entryCount: 0, byteCount: 0 });
    cache.append(gap);
    expect(cache.firstIndex).toBe(9);
  });
});

function filled(cache: EntryCache, count: number, byteCount = 1): EntryCache {
  let last: LogPoint = logOrigin;
  for (let done = 0; done < count; done += 1) last = add(cache, last, byteCount);
  return cache;
}

function add(cache: EntryCache, last: LogPoint, byteCount = 1): Entry {
  const entry = entryAfter(last, asTerm(1), 'command', Buffer.alloc(byteCount));
  cache.append(entry);
  return entry;
}
