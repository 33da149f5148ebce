import { labelSelectorFromMap } from '@orch/apimachinery';
import { describe, expect, it } from 'vitest';
import { TestClock } from '../../../component/src/testing/test-clock.js';
import { forEachBounded, slowStart } from './batches.js';
import { claimOf } from './claim.js';
import { Expectations } from './expectations.js';

describe('slowStart', () => {
  it('doubles its batches and stops after one with a failure', async () => {
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
    expect(await slowStart(13, async () => undefined)).toEqual({
      successCount: 13,
      error: undefined,
    });
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
