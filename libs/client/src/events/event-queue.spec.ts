import { describe, expect, it } from 'vitest';
import { EventQueue } from './event-queue.js';

describe('EventQueue', () => {
  it('gives the objects turns, and the events of one in order', () => {
    const queue = new EventQueue<{ text: string }>();
    for (const text of ['a1', 'a2', 'b1', 'c1']) queue.add(text[0]!, text, { text });
    const taken: string[] = [];
    for (let next = queue.take(); next; next = queue.take()) {
      taken.push(next.recorded.text);
      queue.release(next.about);
    }
    expect(taken).toEqual(['a1', 'b1', 'c1', 'a2']);
    expect(queue.size).toBe(0);
  });

  it('gives no second event of an object that is in work', () => {
    const queue = new EventQueue<{ text: string }>();
    queue.add('a', '1', { text: '1' });
    expect(queue.take()?.recorded.text).toBe('1');
    queue.add('a', '2', { text: '2' });
    expect(queue.take()).toBeUndefined();
    expect(queue.find('a', '2')).toEqual({ text: '2' });
    queue.release('a');
    expect(queue.take()?.recorded.text).toBe('2');
    expect(queue.find('a', '2')).toBeUndefined();
  });
});
