import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asLogIndex, asTerm, branded } from '../brands.js';
import { InvariantError } from '../invariant.js';
import type { LogIndex } from '../types.js';
import { TermRuns } from './term-runs.js';

const at = (index: number): LogIndex => asLogIndex(index);

describe('TermRuns', () => {
  it('returns the same terms as a list of every entry’s term', () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), by: fc.nat(2) }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('truncate' as const), by: fc.nat(8) }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), by: fc.nat(8) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const runs = new TermRuns([]);
        let first = 1;
        let twin: number[] = [];
        let term = 1;
        for (const { kind, by } of steps) {
          if (kind === 'append') {
            term = (twin.at(-1) ?? term) + by;
            twin.push(term);
            runs.append(at(first + twin.length - 1), asTerm(term));
          } else if (kind === 'truncate') {
            twin = twin.slice(0, Math.max(0, twin.length - by));
            runs.truncateFrom(at(first + twin.length));
          } else {
            const count = Math.min(by, twin.length);
            runs.compactTo(at(first + count - 1), at(first + twin.length - 1));
            twin = twin.slice(count);
            first += count;
          }
          for (const [offset, expected] of twin.entries()) {
            expect(runs.termAt(at(first + offset))).toBe(expected);
          }
          const middle = Math.floor(twin.length / 2);
          const wanted = twin.slice(0, middle + 1).findLastIndex((other) => other <= term - 1);
          if (twin.length > 0) {
            expect(runs.lastAtMost(at(first + middle), asTerm(term - 1))).toBe(
              wanted < 0 ? undefined : first + wanted,
            );
          }
        }
      }),
    );
  });

  it('rejects falling terms and indexes outside of the log', () => {
    const runs = new TermRuns([{ firstIndex: at(5), term: asTerm(3) }]);
    expect(() => runs.append(at(6), asTerm(2))).toThrow(InvariantError);
    expect(() => runs.termAt(at(4))).toThrow(InvariantError);
    const falling = [
      { firstIndex: at(1), term: 3 },
      { firstIndex: at(4), term: 2 },
    ];
    expect(() => new TermRuns(branded(falling))).toThrow(InvariantError);
  });
});
