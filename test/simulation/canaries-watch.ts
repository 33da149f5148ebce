/** Planted bugs of watches: gaps, duplicates, bookmarks that promise too much. */
import type { Canary } from './planted-bug.js';

const catchUp = 'store/src/watching/watch-catch-up.js';
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
        find: 'history.recent(watch.sentRevision, this.hub.revision)',
        replace:
          'history.recent(Math.max(history.recentAfter, watch.sentRevision - 1), this.hub.revision)',
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
        find: 'history.recent(watch.sentRevision, this.hub.revision)',
        replace:
          'history.recent(Math.min(watch.sentRevision + 1, this.hub.revision), this.hub.revision)',
      },
    ],
  },
  {
    ...budget,
    name: 'bookmark-ahead',
    faults: ['crash', 'clog'],
    bug: 'a watch that catches up sends a bookmark for events that it has not delivered',
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
        find: 'export const catchUpSliceEvents = 1_000;',
        replace: 'export const catchUpSliceEvents = 3;',
      },
    ],
    edits: [
      {
        file: catchUp,
        find: 'slice.deliver(commit.revision); if (watch.closed || watch.options.whenReady?.()) return; slice = new Slice(watch);',
        replace:
          'watch.sentRevision = commit.revision; if (watch.closed || watch.options.whenReady?.()) return; slice = new Slice(watch);',
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
        find: '&& this.oldestRevision <= this.persistedRevision && this.head',
        replace: '&& this.head',
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
    bug: 'a watch that a compaction overtakes continues with a gap',
    edits: [
      {
        file: catchUp,
        find: 'if (watch.sentRevision < history.oldestRevision) {',
        replace:
          'if (watch.sentRevision < history.oldestRevision) { watch.sentRevision = history.oldestRevision; continue; } if (false) {',
      },
    ],
  },
];
