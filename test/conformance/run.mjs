/**
 * Starts API servers in each dialect and replays the recordings against them. Every case and
 * scenario must pass, except the ones that `failing.json` lists with a reason, and the classes of
 * objects in `failing-verdicts.json`; a listed one that passes is a failure, because its reason no
 * longer applies. Options: `--summary FILE` writes the counts, `--parts LIST` replays only these
 * parts (`cases`, `decisions`, `verdicts`, `webhooks`, `scheduling`), `--only REGEX` only the
 * matching cases and scenarios, `--dialect NAME` only this dialect, `--whole` compares every
 * recorded object instead of the sample. `ORCH_TEST_ENCRYPTION` encrypts the store
 * (`encryption.mjs`). Runs the built programs: run `npm run build` first.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  countResults,
  option,
  replayCases,
  runTool,
  startServer,
  unknownNames,
} from './processes.mjs';
import { replayScheduling } from './scheduling-scenarios.mjs';
import { sampleVerdicts, unexpectedVerdicts } from './verdict-sample.mjs';
import { replayWebhooks } from './webhook-scenarios.mjs';

const failing = JSON.parse(readFileSync(join(import.meta.dirname, 'failing.json'), 'utf8'));

/** Replays the recorded authorization decisions. */
async function replayDecisions(url, dialect) {
  const args = ['--server', url, '--dialect', dialect, '--show', '10'];
  const output = await runTool('decisions.mjs', args);
  const counts = /(\d+) passed, (\d+) failed\s*$/.exec(output);
  if (!counts) throw new Error(`the decisions ended without a result:\n${output}`);
  return { passed: Number(counts[1]), failed: Number(counts[2]), output };
}

/** Creates and updates the sampled objects, and returns the differences. */
async function replayVerdicts(url, dialect, directory) {
  const sample = join(directory, 'sample.jsonl.gz');
  const differences = join(directory, 'differences.jsonl');
  const count = sampleVerdicts(sample, process.argv.includes('--whole'));
  const args = ['--server', url, '--dialect', dialect, '--json', differences, sample];
  const output = await runTool('verdicts.mjs', args);
  if (!existsSync(differences))
    throw new Error(`the sampled objects ended without a result:\n${output}`);
  return { count, differences: readFileSync(differences, 'utf8') };
}

const only = option('--only');
const parts = option('--parts')?.split(',') ?? [
  ...['cases', 'decisions', 'verdicts', 'webhooks', 'scheduling'],
];
const oneServerParts = ['cases', 'decisions', 'verdicts'];
const dialects = option('--dialect')?.split(',') ?? ['orch', 'kubernetes'];
const isComplete = !only && !option('--parts');
const summaryFile = option('--summary');
let passed = 0;
let failed = 0;

function add(counts) {
  passed += counts.passed;
  failed += counts.failed;
}

/** Replays all recordings in a dialect and counts the results. */
async function replayIn(dialect) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-conformance-'));
  // Each with servers of its own.
  const replays = await Promise.allSettled([
    parts.some((part) => oneServerParts.includes(part)) && replayOnOneServer(directory, dialect),
    parts.includes('webhooks') && compared(replayWebhooks(directory, dialect, only), dialect),
    parts.includes('scheduling') && compared(replayScheduling(schedulingIn(dialect)), dialect),
  ]);
  rmSync(directory, { recursive: true, force: true });
  const rejected = replays.filter(({ status }) => status === 'rejected');
  failed += rejected.length;
  for (const { reason } of rejected) console.error(reason.message);
  const results = replays.flatMap(({ value }) => value || []);
  const hasAllResults = isComplete && rejected.length === 0;
  const missing = hasAllResults ? unknownNames(failing, results) : [];
  failed += missing.length;
  for (const name of missing)
    console.log(`failing.json lists ${name}, which is not a recorded case`);
}

const schedulingIn = (dialect) => ({ dialect, filter: only, always: Object.keys(failing) });

/** Replays the parts that share a server. Returns the results of the cases. */
async function replayOnOneServer(directory, dialect) {
  const server = await startServer(directory, dialect);
  try {
    const selection = { directory, dialect, folders: ['cases'], filter: only };
    const results = parts.includes('cases')
      ? await compared(replayCases(server.url, selection), dialect)
      : [];
    if (!only && parts.includes('decisions')) await decideIn(dialect, server.url);
    if (!only && parts.includes('verdicts')) await judgeIn(dialect, server.url, directory);
    return results;
  } catch (error) {
    throw new Error(`${error.message}\n${server.log()}`, { cause: error });
  } finally {
    await server.stop();
  }
}

/** Counts the results and returns them. Prints the output if any is not the expected one. */
async function compared(replayed, dialect) {
  const { results, output } = await replayed;
  const counts = countResults(results, failing, dialect);
  add(counts);
  if (counts.failed > 0) console.log(output);
  return results;
}

/** Counts the decisions that are as recorded. */
async function decideIn(dialect, url) {
  const { output, ...counts } = await replayDecisions(url, dialect);
  add(counts);
  if (counts.failed > 0) console.log(`decisions in the ${dialect} dialect:\n${output}`);
}

/** Counts the objects with the recorded outcome; expected differences count as neither. */
async function judgeIn(dialect, url, directory) {
  const { count, differences } = await replayVerdicts(url, dialect, directory);
  const { expected, unexpected } = unexpectedVerdicts(differences);
  add({ passed: count - expected - unexpected.length, failed: unexpected.length });
  console.log(`objects in the ${dialect} dialect: ${expected} of ${count} differ as expected`);
  for (const text of unexpected) console.log(`objects in the ${dialect} dialect: ${text}`);
}

// Most of the time a server or its client waits for the other.
await Promise.all(dialects.map(replayIn));
for (const [name, reason] of Object.entries(failing))
  console.log(`expected failure: ${name}: ${reason}`);
if (summaryFile) writeFileSync(summaryFile, JSON.stringify({ passed, failed }));
console.log(`conformance: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
