/**
 * Brings the recorded conformance cases, the tool that replays them and the facts that tests read up to
 * date from the folder the cases are kept in; the facts lie beside it: `node scripts/sync-shared.mjs <folder>`. With `--check` it changes nothing and fails when
 * anything differs. The copies in `test/conformance` are never edited by hand.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const target = resolve(import.meta.dirname, '../test/conformance');
const parts = ['replay.mjs', 'cases', 'facts/resources.json', 'facts/tables.json'];

const check = process.argv.includes('--check');
/** The folder that holds a part. */
const homeOf = (part) => (part.startsWith('facts/') ? join(source, '..') : source);
const source = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
if (!source || !parts.every((part) => existsSync(join(homeOf(part), part)))) {
  console.error(
    `usage: node scripts/sync-shared.mjs [--check] <folder with ${parts.join(' and ')}>`,
  );
  process.exit(2);
}

/** Files of a part, relative to `root`. */
function filesOf(root, part) {
  const path = join(root, part);
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [part];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

function differences() {
  const wanted = new Set(parts.flatMap((part) => filesOf(homeOf(part), part)));
  const held = new Set(parts.flatMap((part) => filesOf(target, part)));
  const changed = [...wanted].filter(
    (file) =>
      !held.has(file) ||
      !readFileSync(join(homeOf(file), file)).equals(readFileSync(join(target, file))),
  );
  return [...changed, ...[...held].filter((file) => !wanted.has(file))];
}

const different = differences();
if (check) {
  for (const file of different) console.log(file);
  console.log(different.length === 0 ? 'in step' : `${different.length} files differ`);
  process.exit(different.length === 0 ? 0 : 1);
}
for (const part of parts) {
  rmSync(join(target, part), { recursive: true, force: true });
  cpSync(join(homeOf(part), part), join(target, part), { recursive: true });
}
console.log(`${different.length} files brought up to date`);
