import { createLogger } from '@orch/component';
import { describe, expect, it, vi } from 'vitest';
import { upkeepPeriodMs, upkeepSettleMs } from '../limits.js';
import type { RegistryParts } from '../registry/registry-parts.js';
import { Upkeep } from './upkeep.js';

/** A clock whose one timer is fired by hand, and a store whose watches are told by hand. */
function stage() {
  const timers: { delayMs: number; fire: () => void }[] = [];
  const watches: { onEvents: () => void; onEnd: () => void }[] = [];
  const clock = {
    setTimer(delayMs: number, fire: () => void) {
      const timer = { delayMs, fire };
      timers.push(timer);
      return { cancel: () => timers.splice(timers.indexOf(timer), 1) };
    },
  };
  const store = {
    status: () => ({ revision: 1 }),
    watch(options: { onEvents: () => void; onEnd: () => void }) {
      watches.push(options);
      return { close: () => watches.splice(watches.indexOf(options), 1) };
    },
  };
  const round = vi.fn((): Promise<number | undefined> => Promise.resolve(undefined));
  const logger = createLogger({
    component: 'test',
    format: 'text',
    level: 'fatal',
    write: () => undefined,
  });
  const parts = { clock, store } as unknown as RegistryParts;
  const upkeep = new Upkeep(parts, { name: 'test', prefixes: ['a/'], round }, logger);
  const fire = async () => {
    const [timer] = timers.splice(0, 1);
    timer!.fire();
    await vi.waitFor(() => expect(timers).toHaveLength(1));
  };
  return { upkeep, timers, watches, round, fire };
}

describe('upkeep', () => {
  it('comes soon after a change, once for many', async () => {
    const { upkeep, timers, watches, round, fire } = stage();
    await upkeep.start();
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([upkeepPeriodMs]);
    watches[0]!.onEvents();
    watches[0]!.onEvents();
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([upkeepSettleMs]);
    await fire();
    expect(round).toHaveBeenCalledTimes(2);
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([upkeepPeriodMs]);
  });

  it('comes again after what changed during a round, the first one included', async () => {
    const { upkeep, timers, watches, round } = stage();
    round.mockImplementationOnce(async () => {
      watches[0]!.onEvents();
      return undefined;
    });
    await upkeep.start();
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([upkeepSettleMs]);
  });

  it('follows again where a watch has ended, and ends itself', async () => {
    const { upkeep, timers, watches, fire } = stage();
    await upkeep.start();
    watches[0]!.onEnd();
    expect(watches).toHaveLength(0);
    await fire();
    expect(watches).toHaveLength(1);
    await upkeep.stop();
    expect(watches).toHaveLength(0);
    expect(timers).toHaveLength(0);
  });
});
