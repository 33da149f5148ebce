/**
 * The process that the kill test ends: writes to the log in the directory given, as fast as it can, and
 * prints a line for each write that was acknowledged: last index, its checksum, term and vote.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '@orch/component';
import type { LogIndex } from '../replicated-log.js';
import { DatabaseLogStore } from '../storage/database-log-store.js';
import { FileDisk } from '../storage/file-disk.js';
import { append, chain, IDENTITY, START, vote } from './log-entries.js';

/** Entries kept: the log is cut while the process dies. */
const KEEP_ENTRIES = 300;

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: log-writer <directory>');

const store = new DatabaseLogStore({
  disk: new FileDisk(),
  directory,
  clock: systemClock,
  cacheEntriesMax: 10,
  cacheBytesMax: 1_000_000,
});
const stored = (await store.load()) ?? (await store.create(IDENTITY, START, true));
let { last, start } = stored;
let { term } = stored.hardState;
for (let count = 0; ; count += 1) {
  if (count % 7 === 6) {
    term += 1;
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
  if (last.index - start.index > 2 * KEEP_ENTRIES) {
    start = await store.cut((last.index - KEEP_ENTRIES) as LogIndex);
  }
}
