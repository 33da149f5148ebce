import { describe, expect, it } from 'vitest';
import { systemClock } from '../clock.js';
import { createLogger } from '../logging/create-logger.js';
import { exitCodes, FatalError } from './exit-codes.js';
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
  it('undoes steps last in, first out', async () => {
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

  it('goes on after a failed step and says so in the exit code', async () => {
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

  it('gives up on a stuck step at the deadline', async () => {
    const { lifecycle } = lifecycleWith(20);
    lifecycle.onStop('stuck', () => new Promise(() => undefined));
    lifecycle.stop('SIGTERM');
    expect(await lifecycle.whenEnded()).toBe(exitCodes.shutdownTimeout);
  });

  it('ends with the exit code of a fatal error and one line about it', async () => {
    const { lifecycle, lines } = lifecycleWith();
    lifecycle.fail(new FatalError(exitCodes.storageFailed, 'fsync failed'));
    lifecycle.fail(new Error('later'));
    expect(await lifecycle.whenEnded()).toBe(exitCodes.storageFailed);
    expect(lines.filter((line) => line.includes(' FATAL '))).toHaveLength(1);
  });
});
