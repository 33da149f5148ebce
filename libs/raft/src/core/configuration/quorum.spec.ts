import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asLogIndex, branded } from '../brands.js';
import { InvariantError } from '../invariant.js';
import { member } from '../testing/test-cluster.js';
import type { Configuration, LogIndex } from '../types.js';
import { isQuorum, quorumIndex, voteOutcome } from './quorum.js';

const group = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 7 });
const configuration = fc
  .record({ voters: group, outgoing: group }, { requiredKeys: ['voters'] })
  .map(
    ({ voters, outgoing }): Configuration => ({
      voters: voters.map(member),
      learners: [],
      ...(outgoing ? { outgoing: outgoing.map(member) } : {}),
    }),
  );
const halves = (of: Configuration) => (of.outgoing ? [of.voters, of.outgoing] : [of.voters]);

describe('quorums', () => {
  it('has the highest index that more than half of each half has reached', () => {
    fc.assert(
      fc.property(
        configuration,
        fc.array(fc.nat(20), { minLength: 10, maxLength: 10 }),
        (of, at) => {
          const matchOf = (id: string): LogIndex => asLogIndex(at[Number.parseInt(id, 16)]!);
          const reached = (index: number): boolean =>
            halves(of).every(
              (half) =>
                half.filter((item) => matchOf(item.id) >= index).length >
                Math.floor(half.length / 2),
            );
          const index = quorumIndex(of, matchOf);
          expect(reached(index)).toBe(true);
          expect(reached(index + 1)).toBe(false);
        },
      ),
    );
  });

  it('has two quorums of one configuration share a member in each half', () => {
    fc.assert(
      fc.property(
        configuration,
        fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
        fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }),
        (of, first, second) => {
          const one = (id: string): boolean => first[Number.parseInt(id, 16)] ?? false;
          const other = (id: string): boolean => second[Number.parseInt(id, 16)] ?? false;
          if (!isQuorum(of, one) || !isQuorum(of, other)) return;
          for (const half of halves(of)) {
            expect(half.some((item) => one(item.id) && other(item.id))).toBe(true);
          }
        },
      ),
    );
  });

  it('wins an election by a quorum, loses it when none is left to come', () => {
    fc.assert(
      fc.property(
        configuration,
        fc.array(fc.option(fc.boolean(), { nil: undefined }), { minLength: 10, maxLength: 10 }),
        (of, given) => {
          const votes = new Map<string, boolean>();
          for (const item of halves(of).flat()) {
            const vote = given[Number.parseInt(item.id, 16)];
            if (vote !== undefined) votes.set(item.id, vote);
          }
          const count = (half: readonly { id: string }[], vote: boolean): number =>
            half.filter((item) => votes.get(item.id) === vote).length;
          const won = halves(of).every((half) => count(half, true) * 2 > half.length);
          const lost = halves(of).some((half) => count(half, false) * 2 >= half.length);
          expect(voteOutcome(of, branded(votes))).toBe(won ? 'won' : lost ? 'lost' : 'open');
        },
      ),
    );
  });

  it('ignores learners and non-members, and an empty set of votes', () => {
    const of: Configuration = { voters: [member(1), member(2)], learners: [member(3)] };
    expect(isQuorum(of, (id) => id !== member(2).id)).toBe(false);
    const nobody: Configuration = { voters: [], learners: [member(3)] };
    expect(isQuorum(nobody, () => true)).toBe(false);
    expect(() => quorumIndex(nobody, () => asLogIndex(5))).toThrow(InvariantError);
  });
});
