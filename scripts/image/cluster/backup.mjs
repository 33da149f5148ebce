/**
 * Saves a backup named by the current time and deletes the oldest backups above the number to
 * retain. orchctl verifies a backup before it renames the file, so every backup file is complete.
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CommandError, flags, orchctl, run, say, wholeNumber } from './command.mjs';

const backupTimeoutMs = 3_600_000;
const pattern = /^orch-\d{8}T\d{6}Z\.snapshot$/;

await run(async () => {
  const values = flags(['directory', 'keep']);
  const { directory } = values;
  const keep = wholeNumber(values, 'keep');
  if (keep === 0) throw new CommandError('--keep: want at least 1');
  // Remains of a killed backup. No other backup runs concurrently.
  for (const name of readdirSync(directory)) {
    if (name.endsWith('.snapshot.part')) rmSync(join(directory, name));
  }
  const time = `${new Date().toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
  const file = join(directory, `orch-${time}.snapshot`);
  const args = ['cluster', 'snapshot', 'save', file];
  say((await orchctl(args, { timeoutMs: backupTimeoutMs })).trim());
  const backups = readdirSync(directory)
    .filter((name) => pattern.test(name))
    .sort();
  for (const name of backups.slice(0, -keep)) {
    rmSync(join(directory, name));
    say(`deleted ${name}: more than ${keep} backups`);
  }
});
