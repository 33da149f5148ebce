/**
 * The process that the kill test ends: writes to the log in the directory given, as fast as it can,
 * and prints a line for each write that was acknowledged: last index, its checksum, term and vote.
 */

import { writeSync } from 'node:fs';
import { systemClock } from '@orch/component';
import { asLogIndex, nextTerm } from '../core/brands.js';
import { FileDisk } from '../storage/disk/file-disk.js';
import { LogStore } from '../storage/log-store.js';
import { append, chain, testIdentity, testStart, vote } from './log-entries.js';

/** Retained entries: the log is compacted while the process dies. */
const keepEntries = 300;

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: log-writer <directory>');

const store = new LogStore({
  disk: new FileDisk(),
  directory,
  clock: systemClock,
  cacheEntriesMax: 10,
  cacheBytesMax: 1_000_000,
});
const stored = (await store.load()) ?? (await store.create(testIdentity, testStart, true));
let { last, start } = stored;
let { term } = stored.hardState;
for (let count = 0; ; count += 1) {
  if (count % 7 === 6) {
    term = nextTerm(term);
    await vote(store, term, 'id-one');
  } else {
    const words = Array.from({ length: 1 + (count % 40) }, (_, at) =>
      `${count} ${at} `.padEnd((count * 37 + at * 101) % 900, 'x'),
    );
    const entries = chain(last, term, ...words);
    const votedFor = term === 0 ? undefined : 'id-one';
    await append(store, entries, undefined, votedFor);
    last = entries.at(-1)!;
  }
  writeSync(1, `ack ${last.index} ${last.checksum} ${term}\n`);
  if (last.index - start.index > 2 * keepEntries) {
    start = await store.compact(asLogIndex(last.index - keepEntries));
  }
}
