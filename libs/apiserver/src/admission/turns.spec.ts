import { describe, expect, it } from 'vitest';
import { turnsWaitingMax } from '../limits.js';
import { Turns } from './turns.js';

function gate(): { opened: Promise<void>; open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('turns', () => {
  it('lets work of one key go on one after the other, also after a failure', async () => {
    const turns = new Turns();
    const done: string[] = [];
    const first = gate();
    const failing = turns.take('a', async () => {
      await first.opened;
      done.push('first');
      throw new Error('lost');
    });
    const second = turns.take('a', async () => {
      done.push('second');
    });
    await turns.take('b', async () => {
      done.push('other');
    });
    expect(done).toEqual(['other']);
    first.open();
    await expect(failing).rejects.toThrow('lost');
    await second;
    expect(done).toEqual(['other', 'first', 'second']);
  });

  it('refuses when too many wait', async () => {
    const turns = new Turns();
    const held = gate();
    const waiting = Array.from({ length: turnsWaitingMax }, () =>
      turns.take('a', () => held.opened),
    );
    await expect(turns.take('a', async () => undefined)).rejects.toMatchObject({ code: 429 });
    held.open();
    await Promise.all(waiting);
    await turns.take('a', async () => undefined);
  });
});
