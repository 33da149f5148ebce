import { describe, expect, it } from 'vitest';
import { InFlight } from './in-flight.js';

describe('in-flight limits', () => {
  it('refuse above the limit and count readers and writers apart', () => {
    const inFlight = new InFlight({ readOnly: 1, mutating: 0 });
    inFlight.enter('readOnly');
    expect(() => inFlight.enter('readOnly')).toThrow('Too many requests');
    inFlight.enter('mutating');
    inFlight.enter('mutating');
    expect(inFlight.count('mutating')).toBe(2);
    inFlight.leave('readOnly');
    inFlight.enter('readOnly');
  });
});
