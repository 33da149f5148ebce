/** Planted bugs of the store: commands, outcomes, reads, history. */
import type { Canary } from './planted-bug.js';

const machine = 'store/src/core/state-machine.js';
const budget = { seed: 1, seedsMax: 40, stepCount: 4_000 };

export const storeCanaries: readonly Canary[] = [
  {
    ...budget,
    name: 'applied-twice',
    faults: ['isolateBoth', 'crash', 'transfer', 'loss'],
    bug: 'a command that is in the log twice is applied twice',
    edits: [
      {
        file: machine,
        find: 'if (!window.admit(sequence)) return undefined;',
        replace: 'window.admit(sequence);',
      },
    ],
  },
  {
    ...budget,
    name: 'second-expectation-ignored',
    isQuick: true,
    bug: 'only the first expectation of a commit is checked',
    edits: [
      {
        file: machine,
        find: 'if (operation.expect && !holds(operation.expect, current)) {',
        replace: 'if (position === 0 && operation.expect && !holds(operation.expect, current)) {',
      },
    ],
  },
  {
    ...budget,
    name: 'expiry-by-own-clock',
    faults: ['clockJump', 'transfer'],
    bug: 'each replica ends keys by its own clock',
    edits: [
      {
        file: 'store/src/lifecycle/applier.js',
        find: 'const applied = machine.apply(index, command);',
        replace: 'machine.timeMs = time.nowMs(); const applied = machine.apply(index, command);',
      },
    ],
  },
  {
    ...budget,
    name: 'compaction-not-in-log',
    seed: 3,
    faults: ['transfer'],
    bug: 'the leader compacts its own history without the others',
    edits: [
      {
        file: 'store/src/maintenance/maintenance.js',
        find: "await proposer.propose({ kind: 'compact', revision }, proposalTimeoutMs);",
        replace: 'machine.compactedRevision = revision;',
      },
    ],
  },
  {
    ...budget,
    name: 'tombstone-dropped-early',
    seed: 3,
    faults: ['crash', 'transfer'],
    bug: 'compaction drops objects that are deleted one revision after it',
    edits: [
      {
        file: 'store/src/core/key-space.js',
        find: 'if (!next || next.atRevision > compactedRevision) break;',
        replace: 'if (!next || next.atRevision > compactedRevision + 1) break;',
      },
    ],
  },
  {
    ...budget,
    name: 'revision-spliced-wrong',
    isQuick: true,
    bug: 'the revision of a deletion is spliced in by the length of the new one',
    edits: [
      {
        file: machine,
        find: 'const replacedBytes = String(previous.revision).length;',
        replace: 'const replacedBytes = String(revision).length;',
      },
    ],
  },
  {
    ...budget,
    name: 'refused-though-open',
    faults: ['isolateBoth', 'isolateIn', 'clog', 'halves'],
    bug: 'a commit that may have been taken is reported as not taken',
    edits: [
      {
        file: 'store/src/proposing/commit-outcomes.js',
        find: "return maybeTaken ? new StoreError('OutcomeUnknown', 'the commit did not finish in time and may still take effect')",
        replace:
          "return maybeTaken ? new StoreError('Unavailable', 'the commit did not finish in time')",
      },
    ],
  },
  {
    ...budget,
    name: 'done-though-lost',
    faults: ['isolateBoth', 'isolateIn', 'clog', 'halves'],
    bug: 'a commit whose outcome is open is reported as done',
    edits: [
      {
        file: 'store/src/proposing/proposer.js',
        find: 'if (nowMs >= pending.deadlineMs) this.fail(pending, timedOut(pending.open.length > 0));',
        replace:
          'if (nowMs >= pending.deadlineMs) { this.forget(pending); pending.resolve({ succeeded: true, revision: 1, entries: [] }); }',
      },
    ],
  },
  {
    ...budget,
    name: 'store-reader-joins-round',
    seed: 15,
    faults: ['delay', 'isolateBoth', 'pause', 'clog'],
    bug: 'a reader of the store joins a round in progress',
    edits: [
      {
        file: 'store/src/reading/read-barrier.js',
        find: 'const readers = this.next; this.next = []; const',
        replace: 'const readers = this.next; const',
      },
      {
        file: 'store/src/reading/read-barrier.js',
        find: 'this.observer?.barrier(',
        replace: 'this.next = []; this.observer?.barrier(',
      },
      {
        file: 'store/src/reading/read-barrier.js',
        find: '} catch (error) { const failure',
        replace: '} catch (error) { this.next = []; const failure',
      },
    ],
  },
  {
    ...budget,
    name: 'read-before-applied',
    isQuick: true,
    faults: ['clog', 'delay'],
    bug: 'a quorum read does not wait until its index is applied',
    edits: [
      {
        file: 'store/src/reading/reads.js',
        find: 'if (index <= this.live().machine.appliedIndex) return;',
        replace: 'if (index >= 0) return;',
      },
    ],
  },
  {
    ...budget,
    name: 'older-than-asked',
    faults: ['clog', 'delay'],
    bug: 'a read of a revision does not wait for it',
    edits: [
      {
        file: 'store/src/reading/reads.js',
        find: 'if (revision > machine.revision) {',
        replace: 'if (false) {',
      },
    ],
  },
  {
    ...budget,
    name: 'exact-read-from-live',
    bug: 'an exact read is given the live entry',
    edits: [
      {
        file: 'store/src/core/key-space.js',
        find: 'return live && live.revision <= revision ? live : this.history.get(key)?.at(revision);',
        replace: 'return live ?? this.history.get(key)?.at(revision);',
      },
    ],
  },
  {
    ...budget,
    name: 'exact-list-from-live',
    bug: 'an exact list is given live entries',
    edits: [
      {
        file: 'store/src/state/lister.js',
        find: 'const found = entry && entry.revision <= revision ? entry : this.versionOf(key, revision);',
        replace: 'const found = entry ?? this.versionOf(key, revision);',
      },
    ],
  },
  {
    ...budget,
    name: 'compacted-read-served',
    seed: 33,
    faults: ['transfer'],
    bug: 'a read below the compacted revision succeeds',
    edits: [
      {
        file: 'store/src/reading/reads.js',
        find: 'if (revision < oldestRevision) throw compactedError(revision, oldestRevision);',
        replace: '',
      },
    ],
  },
  {
    ...budget,
    name: 'list-slices-apart',
    faults: ['transfer'],
    bug: 'the slices of a list are not of one moment',
    setting: [
      {
        file: 'store/src/limits.js',
        find: 'export const listSliceUnits = 10_000;',
        replace: 'export const listSliceUnits = 4;',
      },
    ],
    edits: [
      {
        file: 'store/src/state/lister.js',
        find: 'if (size * (diskReadUnits + 1) < listSliceUnits) return indexes;',
        replace: 'return indexes;',
      },
    ],
  },
];
