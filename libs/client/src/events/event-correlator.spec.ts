import { describe, expect, it } from 'vitest';
import { EventCorrelator } from './event-correlator.js';

describe('EventCorrelator', () => {
  it('counts repetitions on the first event', () => {
    const correlator = new EventCorrelator();
    const { key, message } = correlator.combine({ subject: 's', message: 'm' }, 0);
    expect(message).toBe('m');
    expect(correlator.count(key, 1)).toEqual({ count: 1, written: undefined });
    correlator.noteWritten(key, { name: 'e', firstTimestamp: 't' });
    expect(correlator.combine({ subject: 's', message: 'm' }, 1).key).toBe(key);
    expect(correlator.count(key, 2)).toMatchObject({ count: 3, written: { name: 'e' } });
  });

  it('combines ten different messages on one subject until ten minutes pass without one', () => {
    const correlator = new EventCorrelator();
    const combine = (message: string, atMs: number) =>
      correlator.combine({ subject: 's', message }, atMs);
    const combined = Array.from({ length: 12 }, (_, index) => combine(`m${index}`, index));
    expect(combined[8]!.message).toBe('m8');
    expect(combined[9]!.message).toBe('(combined from similar events): m9');
    expect(combined[11]!.message).toBe('(combined from similar events): m11');
    expect(combined[11]!.key).toBe(combined[9]!.key);
    expect(combine('later', 601_000).message).toBe('later');
  });

  it('admits a burst of 25 events about an object, then one every five minutes', () => {
    const correlator = new EventCorrelator();
    const admitted = (atMs: number) =>
      Array.from({ length: 40 }, () => correlator.admit('o', atMs)).filter(Boolean);
    expect(admitted(0)).toHaveLength(25);
    expect(admitted(300_000)).toHaveLength(1);
    expect(correlator.admit('other', 300_000)).toBe(true);
  });

  it('counts the same message about two containers apart', () => {
    const correlator = new EventCorrelator();
    const about = (fieldPath: string) => {
      const { key } = correlator.combine({ subject: 's', fieldPath, message: 'm' }, 0);
      return correlator.count(key, 1).count;
    };
    expect(about('spec.containers{a}')).toBe(1);
    expect(about('spec.containers{b}')).toBe(1);
    expect(about('spec.containers{a}')).toBe(2);
  });
});
