import { describe, expect, it } from 'vitest';
import { asLogIndex, asMemberId, branded } from '../brands.js';
import { InvariantError } from '../invariant.js';
import type { LogIndex } from '../types.js';
import { InFlight } from './in-flight.js';
import { Progress } from './progress.js';

const at = (index: number): LogIndex => asLogIndex(index);
const point = (index: number) => ({ index: at(index), term: 1, checksum: index });

describe('InFlight', () => {
  it('is full by messages or by bytes, and frees acknowledged messages', () => {
    const window = new InFlight(3, 100);
    window.add(at(1), 10);
    window.add(at(2), 10);
    window.add(at(3), 10);
    expect(window.full).toBe(true);
    expect(() => window.add(at(4), 1)).toThrow(InvariantError);
    window.acknowledge(at(2));
    expect(window).toMatchObject({ messageCount: 1, byteCount: 10, full: false });
    window.add(at(4), 95);
    expect(window.full).toBe(true);
    window.acknowledge(at(9));
    expect(window).toMatchObject({ messageCount: 0, byteCount: 0, full: false });
  });

  it('goes round', () => {
    const window = new InFlight(2, 100);
    for (let index = 1; index < 50; index += 1) {
      window.add(at(index), 1);
      window.acknowledge(at(index - 1));
    }
    expect(window.messageCount).toBe(1);
  });
});

describe('Progress', () => {
  const options = { inFlightMessagesMax: 2, inFlightBytesMax: 100 };

  it('probes one message at a time, then runs ahead', () => {
    const progress = new Progress(asMemberId('a'), at(5), options);
    expect(progress.ready).toBe(true);
    progress.sent(branded(point(7)), 10);
    expect(progress).toMatchObject({ ready: false, nextIndex: 5 });
    expect(progress.acknowledge(at(7))).toBe(true);
    progress.becomeReplicate();
    progress.sent(branded(point(9)), 10);
    progress.sent(branded(point(12)), 10);
    expect(progress).toMatchObject({ ready: false, matchIndex: 7, nextIndex: 13 });
    expect(progress.acknowledge(at(7))).toBe(false);
    expect(progress.acknowledge(at(9))).toBe(true);
    expect(progress).toMatchObject({ ready: true, matchIndex: 9, nextIndex: 13 });
  });

  it('never steps back to or below the match index', () => {
    const progress = new Progress(asMemberId('a'), at(5), options);
    progress.acknowledge(at(10));
    progress.becomeProbe(at(3));
    expect(progress).toMatchObject({ nextIndex: 11, state: 'probe' });
    progress.becomeSnapshot();
    expect(progress).toMatchObject({ nextIndex: 11, ready: false });
  });

  it('forgets the point before the next entry when that moves', () => {
    const progress = new Progress(asMemberId('a'), at(5), options);
    progress.becomeReplicate();
    progress.sent(branded(point(4)), 1);
    expect(progress.previous?.index).toBe(4);
    progress.becomeProbe(at(2));
    expect(progress.previous).toBeUndefined();
  });

  it('sends nothing while entries are read for it', () => {
    const progress = new Progress(asMemberId('a'), at(5), options);
    progress.reading = { peer: asMemberId('a'), from: at(1), to: at(2), bytesMax: 1 };
    expect(progress.ready).toBe(false);
  });
});
