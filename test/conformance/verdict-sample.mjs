/**
 * The sample of recorded objects whose validation the conformance stage compares, and the classes
 * of differences that it expects. The sample is the same in every run and has every kind.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

const recorded = join(import.meta.dirname, 'verdicts/verdicts.jsonl.gz');
const classes = JSON.parse(
  readFileSync(join(import.meta.dirname, 'failing-verdicts.json'), 'utf8'),
);

/** One in this many objects of each kind. Higher: a shorter run. Lower: better coverage. */
const stride = 9;

/** The collection of an object, and whether it is an update. */
function groupOf({ path, before }) {
  const [address] = path.split('?');
  return before ? `${address.replace(/\/[^/]+$/, '')} PUT` : address;
}

/** Writes the sample, or all objects, to `file` and returns their number. */
export function sampleVerdicts(file, isWhole = false) {
  const lines = gunzipSync(readFileSync(recorded)).toString().trim().split('\n');
  const counts = new Map();
  const sample = lines.filter((line) => {
    const group = groupOf(JSON.parse(line));
    const count = counts.get(group) ?? 0;
    counts.set(group, count + 1);
    return isWhole || count % stride === 0;
  });
  writeFileSync(file, gzipSync(`${sample.join('\n')}\n`));
  return sample.length;
}

/**
 * `differences`: one JSON object per line, as `verdicts.mjs` writes them. Returns the number of
 * expected differences, and a text for each other one and for each class without a difference that
 * is not `rare`, because the sample need not contain those.
 */
export function unexpectedVerdicts(differences) {
  const rows = differences.split('\n').filter(Boolean).map(JSON.parse);
  const seen = new Set();
  const unexpected = [];
  for (const { verdict, kind, what } of rows) {
    const text = `${kind}: ${verdict}: ${what.join('; ')}`;
    const known = classes.find(({ pattern }) => new RegExp(pattern, 's').test(text));
    if (known) seen.add(known);
    else unexpected.push(text);
  }
  const expected = rows.length - unexpected.length;
  for (const { pattern } of classes.filter((known) => !known.rare && !seen.has(known))) {
    unexpected.push(`no object differs as ${pattern}; remove the class from failing-verdicts.json`);
  }
  return { expected, unexpected };
}
