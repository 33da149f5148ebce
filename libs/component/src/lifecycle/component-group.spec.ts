import { describe, expect, it } from 'vitest';
import { createLogger } from '../logging/create-logger.js';
import { CommonOptions } from '../options/common-options.js';
import { TestClock } from '../testing/test-clock.js';
import { ComponentGroup } from './component-group.js';
import { type ExitCode, exitCodes, FatalError } from './exit-codes.js';
import { KeptComponent } from './kept-component.js';
import { Lifecycle } from './lifecycle.js';

/** A component whose runs are recorded. `canStart`: whether the run with this number starts. */
function component(name: string, clock: TestClock, canStart = (_run: number) => true) {
  const lifecycles: Lifecycle[] = [];
  const ended: string[] = [];
  const logger = createLogger({ component: name, format: 'text', level: 'info', write: () => {} });
  const create = () => {
    const lifecycle = new Lifecycle({ clock, logger, shutdownTimeoutMs: 1_000 });
    const start = async () => {
      const run = lifecycles.push(lifecycle);
      lifecycle.onStop('work', () => void ended.push(`${name} ${run}`));
      if (canStart(run)) return true;
      lifecycle.fail(new FatalError(exitCodes.failed, 'start failed'));
      return false;
    };
    return { common: new CommonOptions(), logger, lifecycle, start };
  };
  const kept = new KeptComponent({ name, create }, clock, () => 0);
  const fail = (code: ExitCode) => lifecycles.at(-1)!.fail(new FatalError(code, 'failed'));
  return { kept, lifecycles, ended, fail };
}

async function started(clock: TestClock, ...parts: ReturnType<typeof component>[]) {
  const group = new ComponentGroup(parts.map(({ kept }) => kept));
  const code = group.whenEnded();
  await clock.advance(0);
  return { group, code };
}

describe('components of one process', () => {
  it('start one again that lost its leadership, and leave the others alone', async () => {
    const clock = new TestClock();
    const [scheduler, proxy] = [component('scheduler', clock), component('proxy', clock)];
    const { group, code } = await started(clock, scheduler, proxy);
    scheduler.fail(exitCodes.leadershipLost);
    await clock.advance(1_000);
    expect(scheduler.lifecycles).toHaveLength(2);
    expect(proxy.lifecycles).toHaveLength(1);
    group.stop('SIGTERM');
    expect(await code).toBe(exitCodes.ok);
    expect(scheduler.ended).toEqual(['scheduler 1', 'scheduler 2']);
  });

  it('wait longer after each failed start', async () => {
    const clock = new TestClock();
    const scheduler = component('scheduler', clock, (run) => run === 1);
    await started(clock, scheduler);
    scheduler.fail(exitCodes.leadershipLost);
    await clock.advance(700);
    expect(scheduler.lifecycles).toHaveLength(3);
    await clock.advance(600);
    expect(scheduler.lifecycles).toHaveLength(3);
    await clock.advance(200);
    expect(scheduler.lifecycles).toHaveLength(4);
  });

  it.each([exitCodes.unexpected, exitCodes.invariantBroken, exitCodes.usage])(
    'end without the shutdown of the others if one ends with exit code %i',
    async (exitCode) => {
      const clock = new TestClock();
      const [scheduler, proxy] = [component('scheduler', clock), component('proxy', clock)];
      const { code } = await started(clock, scheduler, proxy);
      scheduler.fail(exitCode);
      expect(await code).toBe(exitCode);
      expect(scheduler.ended).toEqual(['scheduler 1']);
      expect(proxy.ended).toEqual([]);
    },
  );

  it('end if the first start of one fails', async () => {
    const clock = new TestClock();
    const scheduler = component('scheduler', clock, () => false);
    const { code } = await started(clock, scheduler, component('proxy', clock));
    expect(await code).toBe(exitCodes.failed);
    expect(scheduler.lifecycles).toHaveLength(1);
  });

  it('end if something of a run may be left', async () => {
    const clock = new TestClock();
    const scheduler = component('scheduler', clock);
    const { code } = await started(clock, scheduler);
    scheduler.lifecycles[0]!.onStop('stuck', () => Promise.reject(new Error('no')));
    scheduler.fail(exitCodes.leadershipLost);
    expect(await code).toBe(exitCodes.leadershipLost);
  });

  it('stop one after the other, the last one first', async () => {
    const clock = new TestClock();
    const order: string[] = [];
    const parts = ['first', 'second'].map((name) => component(name, clock));
    const { group, code } = await started(clock, ...parts);
    for (const [index, { lifecycles }] of parts.entries()) {
      lifecycles[0]!.onStop('order', () => void order.push(`${index}`));
    }
    group.stop('SIGTERM');
    expect(await code).toBe(exitCodes.ok);
    expect(order).toEqual(['1', '0']);
  });

  it('stop in order while one waits for its next start', async () => {
    const clock = new TestClock();
    const scheduler = component('scheduler', clock);
    const { group, code } = await started(clock, scheduler);
    scheduler.fail(exitCodes.leadershipLost);
    await clock.advance(0);
    group.stop('SIGTERM');
    expect(await code).toBe(exitCodes.ok);
    expect(scheduler.lifecycles).toHaveLength(1);
  });
});
