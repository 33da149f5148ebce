import { describe, expect, it } from 'vitest';
import { KeyedMutex } from './keyed-mutex.js';

function gate(): { opened: Promise<void>; open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('KeyedMutex', () => {
  it('runs the tasks of a key one after the other, also after a failure', async () => {
    const mutex = new KeyedMutex();
    const done: string[] = [];
    const first = gate();
    const failing = mutex.run('a', async () => {
      await first.opened;
      done.push('first');
      throw new Error('lost');
    });
    const second = mutex.run('a', async () => {
      done.push('second');
    });
    await mutex.run('b', async () => {
      done.push('other');
    });
    expect(done).toEqual(['other']);
    first.open();
    await expect(failing).rejects.toThrow('lost');
    await second;
    expect(done).toEqual(['other', 'first', 'second']);
  });

  it('throws the configured error when too many tasks of a key wait', async () => {
    const mutex = new KeyedMutex({
      waiterCountMax: 2,
      queueFullError: (key) => new Error(`${key} is busy`),
    });
    const held = gate();
    const waiting = [1, 2].map(() => mutex.run('a', () => held.opened));
    await expect(mutex.run('a', async () => undefined)).rejects.toThrow('a is busy');
    await mutex.run('b', async () => undefined);
    held.open();
    await Promise.all(waiting);
    await mutex.run('a', async () => undefined);
  });
});
