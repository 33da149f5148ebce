import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.js';
import { createLogger } from '../logging/create-logger.js';
import { exitCodes, FatalError } from './exit-codes.js';
import { InvariantError } from './invariant.js';
import { Lifecycle } from './lifecycle.js';

function lifecycleWith(shutdownTimeoutMs = 1_000) {
  const lines: string[] = [];
  const logger = createLogger({
    component: 'test',
    format: 'text',
    level: 'info',
    write: (line) => lines.push(line),
  });
  return { lines, lifecycle: new Lifecycle({ clock: systemClock, logger, shutdownTimeoutMs }) };
}

describe('Lifecycle', () => {
  it('runs the shutdown steps last in, first out', async () => {
    const { lifecycle } = lifecycleWith();
    const order: string[] = [];
    lifecycle.onStop('store', () => {
      order.push('store');
    });
    lifecycle.onStop('server', async () => {
      await Promise.resolve();
      order.push('server');
    });
    lifecycle.stop('SIGTERM');
    expect(lifecycle.stopping.aborted).toBe(true);
    expect(await lifecycle.whenEnded()).toBe(exitCodes.ok);
    expect(order).toEqual(['server', 'store']);
  });

  it('continues after a failed step and reports it in the exit code', async () => {
    const { lifecycle, lines } = lifecycleWith();
    let undone = false;
    lifecycle.onStop('first', () => {
      undone = true;
    });
    lifecycle.onStop('second', () => {
      throw new Error('no');
    });
    lifecycle.stop('SIGTERM');
    expect(await lifecycle.whenEnded()).toBe(exitCodes.failed);
    expect(undone).toBe(true);
    expect(lines.join('')).toMatch(/shutdown step failed err=no/);
  });

  it('abandons a stuck step at the deadline', async () => {
    const { lifecycle } = lifecycleWith(20);
    lifecycle.onStop('stuck', () => new Promise(() => undefined));
    lifecycle.stop('SIGTERM');
    expect(await lifecycle.whenEnded()).toBe(exitCodes.shutdownTimeout);
  });

  it('ends with the exit code of a fatal error and logs it once', async () => {
    const { lifecycle, lines } = lifecycleWith();
    lifecycle.fail(new FatalError(exitCodes.storageFailed, 'fsync failed'));
    lifecycle.fail(new Error('later'));
    expect(await lifecycle.whenEnded()).toBe(exitCodes.storageFailed);
    expect(lines.filter((line) => line.includes(' FATAL '))).toHaveLength(1);
  });

  it('ends with the exit code of a broken invariant, also when a storage failure wraps it', async () => {
    const { lifecycle } = lifecycleWith();
    const cause = new InvariantError('term falls', { from: 3, to: 2 });
    lifecycle.fail(new FatalError(exitCodes.storageFailed, 'the log failed', { cause }));
    expect(await lifecycle.whenEnded()).toBe(exitCodes.invariantBroken);
  });
});
