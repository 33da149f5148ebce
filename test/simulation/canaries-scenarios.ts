/** Planted bugs of the scenarios: each scenario still finds the bug that it was written for. */
import type { Canary } from './planted-bug.js';

const staged = { seed: 1, seedsMax: 1, stepCount: 2_000, isQuick: true };

export const scenarioCanaries: readonly Canary[] = [
  {
    ...staged,
    name: 'disk-fails-while-noting-a-peer',
    scenario: 'disk-fails-while-noting-a-peer',
    bug: 'a peer that could not be recorded gets the response that its directory was wiped',
    edits: [
      {
        file: 'raft/src/replica/peers/admission.js',
        find: 'return new Promise(()=>undefined);',
        replace: 'return false;',
      },
    ],
  },
  {
    ...staged,
    name: 'lease-round-before-own-term',
    scenario: 'lease-round-before-own-term',
    bug: 'a leader begins a round for its lease before an entry of its term is committed',
    edits: [
      {
        file: 'raft/src/core/leader.js',
        find: 'if (options.leaseReads && this.ownTermCommitted) this.rounds.begin();',
        replace: 'if (options.leaseReads) this.rounds.begin();',
      },
    ],
  },
  {
    ...staged,
    name: 'sole-voter-gets-company',
    scenario: 'sole-voter-gets-company',
    bug: 'the index for reads without a round is not withdrawn when other members vote',
    edits: [
      {
        file: 'raft/src/replica/requests/published-index.js',
        find: 'if (index === this.latest) return;',
        replace: 'if (index === this.latest || index === undefined) return;',
      },
    ],
  },
  {
    ...staged,
    name: 'sole-voter-starts-again',
    scenario: 'sole-voter-starts-again',
    bug: 'the index for reads without a round is published before an entry of the term is committed',
    edits: [
      {
        file: 'raft/src/core/leader.js',
        find: 'return this.ownTermCommitted && state.isSoleQuorum ?',
        replace: 'return state.isSoleQuorum ?',
      },
    ],
  },
  {
    ...staged,
    name: 'joiner-judges-the-past',
    scenario: 'joiner-judges-the-past',
    bug: 'a peer that was met and is not yet a member gets the response that it was removed',
    edits: [
      {
        file: 'raft/src/replica/peers/admission.js',
        find: 'if (known === removedMark) return {',
        replace:
          'if (known !== undefined && !isMember(configurations().latest, memberId)) return {',
      },
    ],
  },
  {
    ...staged,
    name: 'record-of-a-commit-lost',
    scenario: 'record-of-a-commit-lost',
    bug: 'a start does not notice that a record is missing',
    edits: [
      {
        file: 'store/src/state/recovery.js',
        find: 'if (continuity.brokenRevision > oldestRevision) {',
        replace: 'if (false) {',
      },
    ],
  },
  {
    ...staged,
    name: 'record-lost-below-compaction',
    scenario: 'record-lost-below-compaction',
    bug: 'a start does not notice that what a later version supersedes is missing',
    edits: [
      {
        file: 'store/src/core/continuity.js',
        find: '|| previousRevision !== (live?.revision ?? 0)',
        replace: '',
      },
    ],
  },
  {
    ...staged,
    name: 'reader-joins-running-round',
    scenario: 'reader-joins-running-round',
    bug: 'a reader is served by a round that began before its arrival',
    edits: [
      {
        file: 'raft/src/core/reads/read-rounds.js',
        find: '} else this.waiting.push(reader);',
        replace:
          '} else if (this.round) this.round.readers.push(reader); else this.waiting.push(reader);',
      },
    ],
  },
  {
    ...staged,
    name: 'read-context-reused',
    scenario: 'read-context-reused',
    bug: 'a repeated read uses its context again',
    edits: [
      {
        file: 'raft/src/replica/requests/read-barriers.js',
        find: 'this.context += 1;',
        replace: '',
      },
    ],
  },
];
