/** Planted bugs of consensus: who counts, and since when. */
import type { Canary } from './planted-bug.js';

const core = (name: string) => `raft/src/core/${name}.js`;
const budget = { seed: 1, seedsMax: 40, stepCount: 4_000 };

export const memberCanaries: readonly Canary[] = [
  {
    ...budget,
    name: 'learner-counts',
    seed: 9,
    faults: ['grow', 'learnersApart'],
    memberCount: 3,
    bug: 'the acknowledgement of a learner counts like that of a voter',
    edits: [
      {
        file: core('configuration/quorum'),
        find: 'const index = majorityIndex(configuration.voters, matchOf);',
        replace:
          'const all = [...configuration.voters, ...configuration.learners].map(({ id }) => matchOf(id)).sort((left, right) => right - left); const index = all[Math.floor(configuration.voters.length / 2)];',
      },
    ],
  },
  {
    ...budget,
    name: 'joint-consensus-skipped',
    faults: ['shrinkApart'],
    memberCount: 5,
    bug: 'voters are changed in one step, and the next change need not wait for the one before',
    edits: [
      {
        file: core('membership/membership'),
        find: 'learners: learners.filter((member)=>member.id !== id), outgoing: voters } }; }',
        replace: 'learners: learners.filter((member)=>member.id !== id) } }; }',
      },
      {
        file: core('membership/membership'),
        find: 'voters: voters.filter((member)=>member.id !== id), learners, outgoing: voters',
        replace: 'voters: voters.filter((member)=>member.id !== id), learners',
      },
      {
        file: core('membership/membership-changes'),
        find: 'if (pending || !settled) {',
        replace: 'if (false) {',
      },
    ],
  },
  {
    ...budget,
    name: 'configuration-not-rolled-back',
    scenario: 'configuration-not-rolled-back',
    seed: 1,
    seedsMax: 1,
    stepCount: 2_000,
    bug: 'a configuration stays in effect when its entry is truncated',
    edits: [
      {
        file: core('state/core-state'),
        find: 'this.configurations.truncateFrom(from);',
        replace: '',
      },
    ],
  },
];
