/**
 * `node scripts/commit-subjects.mjs [RANGE]`: checks that every commit subject of RANGE
 * (origin/main..HEAD) is `<area>: <imperative summary>`, as docs/style.md says. Merge commits are
 * skipped.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const columnsMax = 72;
const areas = new Set([
  ...readdirSync(`${root}/libs`),
  ...readdirSync(`${root}/apps`),
  ...['docs', 'chart', 'proto', 'test', 'build', 'scripts', 'examples'],
]);

function faultsOf(subject) {
  const [, area, summary] = /^([\w-]+): (.+)$/.exec(subject) ?? [];
  if (summary === undefined) return ['write <area>: <summary>'];
  const verb = summary.split(' ')[0];
  return [
    !areas.has(area) && `no folder is called ${area}: use one of ${[...areas].sort().join(', ')}`,
    subject.length > columnsMax && `${subject.length} characters, at most ${columnsMax}`,
    summary.endsWith('.') && 'no full stop at the end',
    /^[A-Z][a-z]/.test(summary) && 'begin the summary with a lower-case letter',
    /(?:ed|ing|[^s]s)$/.test(verb) && !isImperative(verb) && `write "${verb}" as an imperative`,
  ].filter(Boolean);
}

/** Verbs that end like a participle or a third person. */
function isImperative(verb) {
  return /^(?:embed|feed|need|seed|shed|speed|exceed|proceed|bring|string|focus|alias|bias|canvas)$/.test(
    verb,
  );
}

const range = process.argv[2] ?? 'origin/main..HEAD';
const log = ['log', '--no-merges', '--format=%h %s', range];
let output;
try {
  output = execFileSync('git', log, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
} catch (error) {
  console.error(`git cannot list the commits of ${range}: ${error.stderr.trim()}`);
  process.exit(2);
}
const commits = output.split('\n').filter(Boolean);
let faultCount = 0;
for (const commit of commits) {
  const [hash, ...words] = commit.split(' ');
  for (const fault of faultsOf(words.join(' '))) {
    faultCount += 1;
    console.log(`${hash} ${words.join(' ')}: ${fault}`);
  }
}
console.log(`${commits.length} commits, ${faultCount} faults`);
process.exitCode = faultCount === 0 ? 0 : 1;
