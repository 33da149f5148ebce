/**
 * Updates the copies in `test/conformance` of the recorded cases and behaviour, the tool that
 * replays them and the facts that tests compare with:
 * `node scripts/sync-shared.mjs <folder of the cases>`, with the facts in its `../facts`. With
 * `--check` it changes nothing and fails if anything differs. Never edit the copies.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const target = resolve(import.meta.dirname, '../test/conformance');
const cases = [
  ...['replay.mjs', 'cases', 'decisions.mjs', 'decisions', 'behaviour'],
  ...['scheduling.mjs', 'scheduling'],
  ...['verdicts.mjs', 'verdicts', 'webhooks.mjs', 'webhooks'],
];
const facts = [
  'bootstrap',
  'defaults.json',
  'health.json',
  'metrics.json',
  'resources.json',
  'selectable-fields.json',
  'tables.json',
];

const check = process.argv.includes('--check');
const source = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
if (!source || !cases.every((part) => existsSync(join(source, part)))) {
  console.error(
    `usage: node scripts/sync-shared.mjs [--check] <folder with ${cases.join(' and ')}>`,
  );
  process.exit(2);
}
const copies = [
  { from: source, to: target, parts: cases },
  { from: join(source, '../facts'), to: join(target, 'facts'), parts: facts },
];

/** Pages about the recording stay with it. */
const isCopied = (path) => !path.endsWith('.md');

/** The files of a part, relative to `root`. */
function filesOf(root, part) {
  const path = join(root, part);
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [part];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isCopied(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

/** The files that differ or exist on one side only. */
function differences({ from, to, parts }) {
  const wanted = new Set(parts.flatMap((part) => filesOf(from, part)));
  const held = new Set(parts.flatMap((part) => filesOf(to, part)));
  const changed = [...wanted].filter(
    (file) =>
      !held.has(file) || !readFileSync(join(from, file)).equals(readFileSync(join(to, file))),
  );
  return [...changed, ...[...held].filter((file) => !wanted.has(file))];
}

const different = copies.flatMap(differences);
if (check) {
  for (const file of different) console.log(file);
  console.log(different.length === 0 ? 'in step' : `${different.length} files differ`);
  process.exit(different.length === 0 ? 0 : 1);
}
for (const { from, to, parts } of copies) {
  for (const part of parts) {
    rmSync(join(to, part), { recursive: true, force: true });
    cpSync(join(from, part), join(to, part), { recursive: true, filter: isCopied });
  }
}
console.log(`${different.length} files brought up to date`);
