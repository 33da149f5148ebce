/** Planted bugs of consensus: reads that must not be stale. */
import type { Canary } from './planted-bug.js';

const core = (name: string) => `raft/src/core/${name}.js`;
const budget = { seed: 1, seedsMax: 40, stepCount: 4_000 };

export const readCanaries: readonly Canary[] = [
  {
    ...budget,
    name: 'no-empty-entry',
    scenario: 'lease-round-before-own-term',
    stepCount: 2_000,
    bug: 'a term begins without an entry of its own, and reads do not wait for one',
    edits: [
      {
        file: core('leader'),
        find: "this.termStartIndex = state.appendOwn('empty', Buffer.alloc(0)).index;",
        replace: 'this.termStartIndex = state.log.last.index + 1;',
      },
      {
        file: core('leader'),
        find: 'return this.state.commitIndex >= this.termStartIndex;',
        replace: 'return true;',
      },
    ],
  },
  {
    ...budget,
    name: 'read-before-own-term',
    seed: 14,
    faults: ['succession', 'clog', 'delay'],
    memberCount: 3,
    bug: 'a new leader serves reads before an entry of its term is committed',
    edits: [
      {
        file: core('leader'),
        find: 'if (!this.ownTermCommitted) {',
        replace: 'if (false) {',
      },
    ],
  },
  {
    ...budget,
    name: 'read-without-quorum',
    seed: 16,
    faults: ['isolateBoth', 'halves', 'isolateIn', 'pause'],
    memberCount: 3,
    bug: 'a leader serves reads without confirming its leadership',
    edits: [{ file: core('leader'), find: 'if (state.isSoleQuorum) {', replace: 'if (true) {' }],
  },
  {
    ...budget,
    name: 'index-published-without-quorum',
    seed: 16,
    faults: ['isolateBoth', 'halves', 'isolateIn', 'pause'],
    memberCount: 3,
    bug: 'a leader publishes an index for reads without a round while others can be elected',
    edits: [
      {
        file: core('leader'),
        find: 'return this.ownTermCommitted && state.isSoleQuorum ?',
        replace: 'return this.ownTermCommitted ?',
      },
    ],
  },
  {
    ...budget,
    name: 'stale-ack-counts',
    seed: 5,
    faults: ['afterglow'],
    memberCount: 3,
    bug: 'an acknowledgement of an earlier round counts for the current one',
    edits: [
      {
        file: core('reads/read-rounds'),
        find: 'if (round?.context !== context) {',
        replace: 'if (!round || context === 0) {',
      },
    ],
  },
];
