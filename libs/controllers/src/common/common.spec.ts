import { labelSelectorFromMap } from '@orch/apimachinery';
import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { forEachBounded, slowStart } from './batches.js';
import { claimOf } from './claim.js';
import { Expectations } from './expectations.js';

describe('slowStart', () => {
  it('doubles its batches at first and stops after one with a failure', async () => {
    let running = 0;
    const batches: number[] = [];
    const result = await slowStart(20, async (index) => {
      running++;
      await Promise.resolve();
      if (running > 0) batches.push(running);
      running = 0;
      if (index === 4) throw new Error('quota');
    });
    expect(batches).toEqual([1, 2, 4]);
    expect(result).toMatchObject({ successCount: 6, error: new Error('quota') });
  });

  it('does all when nothing fails', async () => {
    for (const count of [0, 13, 15, 16, 500]) {
      const indexes = new Set<number>();
      const result = await slowStart(count, async (index) => void indexes.add(index));
      expect(result).toEqual({ successCount: count, error: undefined });
      expect(indexes.size).toBe(count);
    }
  });

  it('runs as many at a time as have succeeded, without waiting for a batch', async () => {
    const started: (() => void)[] = [];
    const done = slowStart(500, () => new Promise((resolve) => started.push(resolve)));
    let finished = 0;
    const finish = async (count: number) => {
      for (const end of started.slice(finished, finished + count)) end();
      finished += count;
      await new Promise(setImmediate);
      return started.length - finished;
    };
    expect([await finish(1), await finish(2), await finish(4), await finish(8)]).toEqual([
      2, 4, 8, 16,
    ]);
    expect([await finish(1), await finish(1), await finish(14)]).toEqual([17, 18, 32]);
    while (finished < 500) await finish(1);
    expect(await done).toEqual({ successCount: 500, error: undefined });
  });

  it('starts nothing after a failure, and ends when nothing runs', async () => {
    let startedCount = 0;
    const result = await slowStart(500, async (index) => {
      startedCount += 1;
      await Promise.resolve();
      if (index >= 40) throw new Error(`quota ${index}`);
    });
    expect(result).toEqual({ successCount: 40, error: new Error('quota 40') });
    expect(startedCount).toBeLessThanOrEqual(81);
  });
});

it('forEachBounded tries all items with bounded concurrency and returns the failures', async () => {
  let running = 0;
  let most = 0;
  const errors = await forEachBounded([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    if (item % 2 === 0) throw item;
  });
  expect([most, errors]).toEqual([2, [2, 4]]);
});

describe('claimOf', () => {
  const owner = { metadata: { uid: 'o' } };
  const going = { metadata: { uid: 'o', deletionTimestamp: 't' } };
  const selector = labelSelectorFromMap({ app: 'web' });
  const object = (app: string, controller?: string, deletionTimestamp?: string) => ({
    metadata: {
      labels: { app },
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
      ownerReferences: controller
        ? [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: controller, controller: true }]
        : [],
    },
  });

  it.each([
    ['its own', owner, object('web', 'o'), 'keep'],
    ["another's", owner, object('web', 'x'), 'ignore'],
    ['its own with other labels', owner, object('db', 'o'), 'release'],
    ['an orphan it selects', owner, object('web'), 'adopt'],
    ['an orphan it does not select', owner, object('db'), 'ignore'],
    ['an orphan that is going', owner, object('web', undefined, 't'), 'ignore'],
    ['an orphan, while going itself', going, object('web'), 'ignore'],
    ['its own with other labels, while going', going, object('db', 'o'), 'ignore'],
  ])('%s', (_, by, dependent, expected) => {
    expect(claimOf(by, selector, dependent)).toBe(expected);
  });
});

describe('Expectations', () => {
  it('are satisfied by observations or by a timeout', async () => {
    const clock = new TestClock();
    const expectations = new Expectations(clock);
    expect(expectations.satisfied('a')).toBe(true);
    expectations.expectCreations('a', 2);
    expectations.creationObserved('a');
    expect(expectations.satisfied('a')).toBe(false);
    expectations.creationObserved('a');
    expect(expectations.satisfied('a')).toBe(true);
    expectations.expectDeletions('a', ['p', 'q']);
    expectations.deletionObserved('a', 'p');
    expectations.deletionObserved('a', 'p');
    expect(expectations.satisfied('a')).toBe(false);
    await clock.advance(300_001);
    expect(expectations.satisfied('a')).toBe(true);
  });
});
