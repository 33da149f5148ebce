import { describe, expect, it } from 'vitest';
import { EventCorrelator } from './event-correlator.js';

const fact = (message: string, subject = 's', spamKey = 'o') => ({
  ...{ message, subject, spamKey },
  count: 1,
});

describe('EventCorrelator', () => {
  it('counts repetitions on the first event', () => {
    const correlator = new EventCorrelator();
    const first = correlator.correlate(fact('m'), 0)!;
    expect(first).toMatchObject({ count: 1, written: undefined, message: 'm' });
    correlator.noteWritten(first.key, { name: 'e', firstTimestamp: 't' });
    expect(correlator.correlate(fact('m'), 1)).toMatchObject({ count: 2, written: { name: 'e' } });
  });

  it('combines ten different messages on one subject until ten minutes pass without one', () => {
    const correlator = new EventCorrelator();
    const messages = Array.from(
      { length: 12 },
      (_, index) => correlator.correlate(fact(`m${index}`), index)?.message,
    );
    expect(messages[8]).toBe('m8');
    expect(messages[9]).toBe('(combined from similar events): m9');
    expect(messages[11]).toBe('(combined from similar events): m11');
    expect(correlator.correlate(fact('later'), 601_000)?.message).toBe('later');
  });

  it('passes a burst of 25 events about an object, then one every five minutes', () => {
    const correlator = new EventCorrelator();
    const passed = (atMs: number) =>
      Array.from({ length: 40 }, () => correlator.correlate(fact('m'), atMs)).filter(Boolean);
    expect(passed(0)).toHaveLength(25);
    expect(passed(300_000)).toHaveLength(1);
    expect(correlator.correlate(fact('m', 's2', 'other'), 300_000)).toBeDefined();
  });

  it('counts the same message about two containers apart, within the limits of their pod', () => {
    const correlator = new EventCorrelator();
    const about = (fieldPath: string) => correlator.correlate({ ...fact('m'), fieldPath }, 0);
    expect(about('spec.containers{a}')).toMatchObject({ count: 1 });
    expect(about('spec.containers{b}')).toMatchObject({ count: 1 });
    expect(about('spec.containers{a}')).toMatchObject({ count: 2 });
    const passed = Array.from({ length: 40 }, (_, index) => about(`c${index % 2}`)).filter(Boolean);
    expect(passed).toHaveLength(22);
  });
});
