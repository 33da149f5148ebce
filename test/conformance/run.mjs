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
  const results = [];
  try {
    if (parts.some((part) => oneServerParts.includes(part))) {
      results.push(...(await replayOnOneServer(directory, dialect)));
    }
    if (parts.includes('webhooks')) {
      const replayed = await replayWebhooks(directory, dialect, only);
      compare(replayed, dialect);
      results.push(...replayed.results);
    }
    if (parts.includes('scheduling')) {
      const selection = { dialect, filter: only, always: Object.keys(failing) };
      const replayed = await replayScheduling(selection);
      compare(replayed, dialect);
      results.push(...replayed.results);
    }
    const missing = isComplete ? unknownNames(failing, results) : [];
    failed += missing.length;
    for (const name of missing)
      console.log(`failing.json lists ${name}, which is not a recorded case`);
  } catch (error) {
    console.error(error.message);
    failed += 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Replays the cases and the decisions. Returns the results of the cases. */
async function replayOnOneServer(directory, dialect) {
  const server = await startServer(directory, dialect);
  try {
    let results = [];
    if (parts.includes('cases')) {
      const selection = { directory, dialect, folders: ['cases'], filter: only };
      const replayed = await replayCases(server.url, selection);
      compare(replayed, dialect);
      results = replayed.results;
    }
    if (!only && parts.includes('decisions')) await decideIn(dialect, server.url);
    if (!only && parts.includes('verdicts')) await judgeIn(dialect, server.url, directory);
    return results;
  } catch (error) {
    throw new Error(`${error.message}\n${server.log()}`, { cause: error });
  } finally {
    await server.stop();
  }
}

/** Counts the results, and prints the output if any is not the expected one. */
function compare({ results, output }, dialect) {
  const counts = countResults(results, failing, dialect);
  add(counts);
  if (counts.failed > 0) console.log(output);
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
