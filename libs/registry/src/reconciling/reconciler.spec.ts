import { createLogger } from '@orch/component';
import { noRevision, StoreError, type WatchOptions } from '@orch/store';
import { describe, expect, it, vi } from 'vitest';
import { reconcilePeriodMs, reconcileSettleMs } from '../limits.js';
import { Reconciler } from './reconciler.js';

/**
 * A clock with one timer that is fired manually, and a store whose watches are notified manually.
 */
function stage() {
  const timers: { delayMs: number; fire: () => void }[] = [];
  const watches: WatchOptions[] = [];
  const clock = {
    setTimer(delayMs: number, fire: () => void) {
      const timer = { delayMs, fire };
      timers.push(timer);
      return { cancel: () => timers.splice(timers.indexOf(timer), 1) };
    },
  };
  const store = {
    revision: () => noRevision,
    watch(options: WatchOptions) {
      watches.push(options);
      return { revision: noRevision, close: () => watches.splice(watches.indexOf(options), 1) };
    },
  };
  const round = vi.fn((): Promise<number | undefined> => Promise.resolve(undefined));
  const logger = createLogger({
    component: 'test',
    format: 'text',
    level: 'fatal',
    write: () => undefined,
  });
  const options = { name: 'test', prefixes: ['a/'], round };
  const reconciler = new Reconciler({ clock, store, logger }, options);
  const change = () => watches[0]!.onEvents([], noRevision);
  const fire = async () => {
    const [timer] = timers.splice(0, 1);
    timer!.fire();
    await vi.waitFor(() => expect(timers).toHaveLength(1));
  };
  return { reconciler, timers, watches, change, round, fire };
}

describe('reconciler', () => {
  it('comes soon after a change, once for many', async () => {
    const { reconciler, timers, change, round, fire } = stage();
    await reconciler.start();
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([reconcilePeriodMs]);
    change();
    change();
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([reconcileSettleMs]);
    await fire();
    expect(round).toHaveBeenCalledTimes(2);
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([reconcilePeriodMs]);
  });

  it('runs again after a change during a round, the first one included', async () => {
    const { reconciler, timers, change, round } = stage();
    round.mockImplementationOnce(async () => {
      change();
      return undefined;
    });
    await reconciler.start();
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([reconcileSettleMs]);
  });

  it('follows again where a watch has ended, and ends itself', async () => {
    const { reconciler, timers, watches, fire } = stage();
    await reconciler.start();
    watches[0]!.onEnd(new StoreError('Unavailable', 'test'));
    expect(watches).toHaveLength(0);
    await fire();
    expect(watches).toHaveLength(1);
    await reconciler.stop();
    expect(watches).toHaveLength(0);
    expect(timers).toHaveLength(0);
  });
});
