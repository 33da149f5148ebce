/**
 * The process that the crash test kills: writes to the store in the directory given, as fast as it
 * can, and prints a line for each acknowledgement: revision, key and text.
 */
import { writeSync } from 'node:fs';
import { put, waitMs } from './harness.js';
import { openSole } from './sole-store.js';

const writerCount = 16;
const keysPerWriter = 5;

const [directory, life] = process.argv.slice(2);
if (directory === undefined) throw new Error('usage: crash-writer <directory> <life>');

// The store's own timers keep no process alive; here nothing else does.
setInterval(() => undefined, 60_000);
const store = await openSole(directory, {
  onFatal: (error) => {
    writeSync(2, `${error.stack}\n`);
    process.exit(70);
  },
  // Small, so that the kill interrupts compactions of log and history.
  options: { logKeepEntries: 200, ringEventsMax: 64 },
});
writeSync(1, `open ${store.revision()}\n`);

async function write(writer: number): Promise<void> {
  for (let at = 0; ; at += 1) {
    const key = `core/pods/ns${writer}/p${at % keysPerWriter}`;
    const text = `${life}-${writer}-${at}-${'x'.repeat((at * 37) % 900)}`;
    const deletes = at % 7 === 6;
    const operation = deletes ? ({ kind: 'delete', key } as const) : put(key, text);
    const { succeeded, entries, revision } = await store
      .commit([operation], waitMs)
      .then((result) => (result.succeeded ? result : { ...result, entries: [] }));
    if (!succeeded) throw new Error('a commit without a condition failed');
    if (entries[0]) writeSync(1, `ack ${revision} ${key} ${deletes ? '-' : text}\n`);
  }
}

await Promise.all(Array.from({ length: writerCount }, (_, writer) => write(writer)));
