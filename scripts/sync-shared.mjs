/**
 * Brings the recorded conformance cases, the tool that replays them and the facts that tests compare kinds
 * with up to date from the folder they are kept in, the facts from `facts` beside it:
 * `node scripts/sync-shared.mjs <folder>`. With `--check` it changes nothing and fails when
 * anything differs. The copies in `test/conformance` are never edited by hand.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const target = resolve(import.meta.dirname, '../test/conformance');
/** Part of the target, and where in the source it is. */
const parts = new Map([
  ['replay.mjs', 'replay.mjs'],
  ['cases', 'cases'],
  ['facts/resources.json', '../facts/resources.json'],
  ['facts/selectable-fields.json', '../facts/selectable-fields.json'],
  ['facts/tables.json', '../facts/tables.json'],
]);

const check = process.argv.includes('--check');
const source = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
if (!source || ![...parts.values()].every((part) => existsSync(join(source, part)))) {
  console.error(
    `usage: node scripts/sync-shared.mjs [--check] <folder with ${[...parts.values()].join(', ')}>`,
  );
  process.exit(2);
}

/** Files of a part, relative to it; one file is the part itself. */
function filesOf(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [''];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(path, join(entry.parentPath, entry.name)));
}

function isSame(left, right) {
  if (!existsSync(left) || !existsSync(right)) return false;
  return readFileSync(left).equals(readFileSync(right));
}

/** Files of the target that are not what they should be, missing and surplus ones too. */
function differences() {
  return [...parts].flatMap(([to, from]) => {
    const [held, wanted] = [join(target, to), join(source, from)];
    return [...new Set([...filesOf(held), ...filesOf(wanted)])]
      .filter((file) => !isSame(join(held, file), join(wanted, file)))
      .map((file) => join(to, file));
  });
}

const different = differences();
if (check) {
  for (const file of different) console.log(file);
  console.log(different.length === 0 ? 'in step' : `${different.length} files differ`);
  process.exit(different.length === 0 ? 0 : 1);
}
for (const [to, from] of parts) {
  rmSync(join(target, to), { recursive: true, force: true });
  cpSync(join(source, from), join(target, to), { recursive: true });
}
console.log(`${different.length} files brought up to date`);
