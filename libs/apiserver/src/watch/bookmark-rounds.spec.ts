import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { bookmarkGatherMs, bookmarkIntervalMs, bookmarkSliceWatches } from '../limits.js';
import { type Bookmarked, BookmarkRounds } from './bookmark-rounds.js';

function setup() {
  const clock = new TestClock();
  const rounds = new BookmarkRounds(clock);
  const times = new Map<Bookmarked, number[]>();
  const open = (onBookmark = (_watch: Bookmarked) => {}): Bookmarked => {
    const watch = {
      bookmark() {
        times.get(watch)!.push(clock.monotonicMs());
        onBookmark(watch);
      },
    };
    times.set(watch, []);
    rounds.add(watch);
    return watch;
  };
  return { clock, rounds, times, open };
}

describe('rounds of bookmarks', () => {
  it('serve every watch once in each interval, with one timer', async () => {
    const { clock, times, open } = setup();
    const watches: Bookmarked[] = [];
    for (let second = 0; second < 60; second += 1) {
      watches.push(open(), open());
      await clock.advance(990);
    }
    expect(clock.timerCount).toBe(1);
    await clock.advance(bookmarkIntervalMs * 4);
    expect(clock.timerCount).toBe(1);
    for (const watch of watches) {
      const seen = times.get(watch)!;
      expect(seen.length).toBeGreaterThanOrEqual(3);
      for (const [index, atMs] of seen.entries()) {
        const sinceMs = atMs - (seen[index - 1] ?? atMs - bookmarkIntervalMs);
        expect(sinceMs).toBeGreaterThanOrEqual(bookmarkIntervalMs);
        expect(sinceMs).toBeLessThanOrEqual(bookmarkIntervalMs + bookmarkGatherMs);
      }
    }
  });

  it('serve many watches of one second in limited slices', async () => {
    const { clock, rounds, times, open } = setup();
    const count = bookmarkSliceWatches * 2 + 1;
    const slices: number[] = [];
    const setTimer = clock.setTimer.bind(clock);
    let servedCount = 0;
    clock.setTimer = (delayMs, callback) =>
      setTimer(delayMs, () => {
        callback();
        slices.push(servedCount);
        servedCount = 0;
      });
    const watches = Array.from({ length: count }, () => open(() => (servedCount += 1)));
    rounds.remove(watches.pop()!);
    await clock.advance(bookmarkIntervalMs + bookmarkGatherMs);
    expect(slices).toEqual([bookmarkSliceWatches, bookmarkSliceWatches]);
    expect([...times.values()].filter(({ length }) => length === 1)).toHaveLength(count - 1);
  });

  it('leave out watches that have ended, also during a round', async () => {
    const { clock, rounds, times, open } = setup();
    const first = open(() => rounds.remove(second));
    const second = open();
    await clock.advance(bookmarkIntervalMs * 2);
    expect(times.get(first)).not.toHaveLength(0);
    expect(times.get(second)).toHaveLength(0);
    for (const watch of times.keys()) rounds.remove(watch);
    await clock.advance(bookmarkIntervalMs * 2);
    expect(clock.timerCount).toBe(0);
  });

  it('encode a bookmark once for each revision and representation', () => {
    const { rounds } = setup();
    let encodedCount = 0;
    const bytes = (key: string, revision: number) =>
      rounds
        .bytes(key, revision, () => {
          encodedCount += 1;
          return Buffer.from(`${key} ${revision}`);
        })
        .toString();
    expect([bytes('a', 1), bytes('a', 1), bytes('b', 1)]).toEqual(['a 1', 'a 1', 'b 1']);
    expect([bytes('a', 2), bytes('b', 2), bytes('a', 1)]).toEqual(['a 2', 'b 2', 'a 1']);
    expect(encodedCount).toBe(5);
  });
});
