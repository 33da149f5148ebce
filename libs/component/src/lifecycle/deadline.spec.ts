import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline, DeadlineError, sleep } from './deadline.js';

describe('Deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it('aborts its listeners once, with the reason, when the time is over', () => {
    const deadline = new Deadline(100, 'the call');
    const listener = vi.fn();
    const removed = vi.fn();
    deadline.addEventListener('abort', listener);
    deadline.addEventListener('abort', removed);
    deadline.removeEventListener('abort', removed);
    vi.advanceTimersByTime(99);
    expect([deadline.aborted, listener.mock.calls.length]).toEqual([false, 0]);
    vi.advanceTimersByTime(1);
    expect([deadline.aborted, listener.mock.calls.length]).toEqual([true, 1]);
    expect(removed).not.toHaveBeenCalled();
    expect(deadline.reason).toBeInstanceOf(DeadlineError);
  });

  it('never aborts after it was cleared', () => {
    const deadline = new Deadline(100, 'the call');
    deadline.clear();
    expect(vi.getTimerCount()).toBe(0);
    expect(deadline.aborted).toBe(false);
  });

  it('ends a sleep', async () => {
    const deadline = new Deadline(100, 'the call');
    const sleeping = expect(sleep(1_000, deadline)).rejects.toThrow('the call took longer');
    vi.advanceTimersByTime(100);
    await sleeping;
  });
});
