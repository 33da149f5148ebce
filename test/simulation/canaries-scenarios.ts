/** The bugs that scenarios are about, planted again: what was mended once is found again. */
import type { Canary } from './canaries.js';

const staged = { seed: 1, seedsMax: 1, stepCount: 2_000, isQuick: true };

export const scenarioCanaries: readonly Canary[] = [
  {
    ...staged,
    name: 'disk-fails-while-noting-a-peer',
    scenario: 'disk-fails-while-noting-a-peer',
    bug: 'a peer that could not be noted is told that its directory was wiped',
    edits: [
      {
        file: 'raft/src/replica/admission.js',
        find: 'return new Promise(()=>undefined);',
        replace: 'return false;',
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
        file: 'store/src/shell/recovery.js',
        find: 'if (continuity.missingRevision > oldestRevision) {',
        replace: 'if (false) {',
      },
    ],
  },
];
