import { describe, expect, it } from 'vitest';
import { keepTickObject } from './keep-tick-object.js';

describe('keepTickObject', () => {
  it('keeps an object of the queue of ticks, always the same', async () => {
    const kept = await keepTickObject();
    expect(Object.keys(kept)).toEqual(expect.arrayContaining(['callback', 'args']));
    expect(await keepTickObject()).toBe(kept);
  });
});
