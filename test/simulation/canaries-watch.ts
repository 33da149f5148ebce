/** Planted bugs of watches: gaps, duplicates, bookmarks that promise too much. */
import type { Canary } from './canaries.js';

const catchUp = 'store/src/shell/catch-up.js';
const budget = { seed: 1, seedsMax: 40, stepCount: 4_000 };

export const watchCanaries: readonly Canary[] = [
  {
    ...budget,
    name: 'watch-joins-too-early',
    faults: ['transfer', 'crash'],
    bug: 'a watch goes live before it has the newest events',
    edits: [
      {
        file: catchUp,
        find: 'if (watch.sentRevision === this.hub.revision) {',
        replace:
          'if (watch.sentRevision + 1 >= this.hub.revision) { watch.sentRevision = this.hub.revision;',
      },
    ],
  },
  {
    ...budget,
    name: 'watch-event-twice',
    isQuick: true,
    bug: 'a watch that catches up gets its last event again',
    edits: [
      {
        file: catchUp,
        find: 'let revision = watch.sentRevision; let looked = 0;',
        replace:
          'let revision = Math.max(machine.ring.firstRevision, watch.sentRevision) - 1; let looked = 0;',
      },
    ],
  },
  {
    ...budget,
    name: 'watch-resumes-one-late',
    bug: 'a watch that catches up leaves out its first event',
    edits: [
      {
        file: catchUp,
        find: 'let revision = watch.sentRevision; let looked = 0;',
        replace:
          'let revision = Math.min(watch.sentRevision + 1, this.hub.revision); let looked = 0;',
      },
    ],
  },
  {
    ...budget,
    name: 'bookmark-ahead',
    faults: ['crash', 'clog'],
    bug: 'a watch that catches up promises what it has not delivered',
    edits: [
      {
        file: 'store/src/core/watch-hub.js',
        find: 'return this.hub ? this.hub.revision : this.sentRevision;',
        replace: 'return this.hub ? this.hub.revision : this.sentRevision + 1;',
      },
    ],
  },
  {
    ...budget,
    name: 'slow-catch-up-drops',
    faults: ['transfer', 'clog'],
    bug: 'events between two slices of a slow catch-up are dropped',
    setting: [
      {
        file: 'store/src/limits.js',
        find: 'export const CATCH_UP_SLICE_EVENTS = 1_000;',
        replace: 'export const CATCH_UP_SLICE_EVENTS = 3;',
      },
    ],
    edits: [
      {
        file: catchUp,
        find: 'deliver(watch, selected, last); if (watch.closed || watch.options.whenReady?.()) return; selected = [];',
        replace:
          'watch.sentRevision = last; if (watch.closed || watch.options.whenReady?.()) return; selected = [];',
      },
    ],
  },
  {
    ...budget,
    name: 'ring-forgets-unwritten',
    bug: 'recent events are forgotten before they can be read from the disk',
    edits: [
      {
        file: 'store/src/core/event-ring.js',
        find: '&& this.#firstRevision <= this.#persistedRevision && this.#head',
        replace: '&& this.#head',
      },
    ],
  },
  {
    ...budget,
    stepCount: 12_000,
    name: 'compaction-overtakes-watch',
    seed: 18,
    faults: ['exile'],
    memberCount: 3,
    bug: 'a watch that a compaction overtakes goes on with a gap',
    edits: [
      {
        file: catchUp,
        find: 'if (watch.sentRevision < machine.oldestRevision) {',
        replace:
          'if (watch.sentRevision < machine.oldestRevision) { watch.sentRevision = machine.oldestRevision; continue; } if (false) {',
      },
    ],
  },
];
