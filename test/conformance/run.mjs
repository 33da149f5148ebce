/**
 * Starts an API server of its own in each dialect and replays recorded cases against it.
 * `expected.json` lists the cases that must pass; any of them that fails is a failure here. Options:
 * `--summary FILE` writes the counts, `--update` replays every case and rewrites the list, `--only
 * REGEX` replays some of the list. The server is the built one: run `npm run build` first.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const main = join(root, 'dist/apps/apiserver/src/main.js');
const replay = join(import.meta.dirname, 'replay.mjs');
const cases = join(import.meta.dirname, 'cases');
const expectedFile = join(import.meta.dirname, 'expected.json');
const startTimeoutMs = 30_000;
const tokens = ['admintoken,admin,admin-uid,"system:masters"', 'alicetoken,alice,alice-uid,"dev"'];

function option(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

function isReady(port) {
  return new Promise((done) => {
    const probe = request(
      { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false },
      (answer) => {
        answer.resume();
        answer.once('end', () => done(answer.statusCode === 200));
      },
    );
    probe.once('error', () => done(false));
    probe.end();
  });
}

async function startServer(directory, dialect) {
  const port = await freePort();
  const tokenFile = join(directory, 'tokens.csv');
  writeFileSync(tokenFile, `${tokens.join('\n')}\n`);
  const log = [];
  const child = spawn(
    process.execPath,
    [
      main,
      `--data-dir=${join(directory, 'data')}`,
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--dialect=${dialect}`,
      `--token-auth-file=${tokenFile}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      '--service-node-port-range=30000-32767',
      '--service-account-issuer=https://orch.local',
      '--api-audiences=api',
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      log.push(String(chunk));
      if (log.length > 200) log.shift();
    });
  }
  let exited = false;
  const ended = new Promise((done) =>
    child.once('exit', () => {
      exited = true;
      done();
    }),
  );
  const deadlineMs = Date.now() + startTimeoutMs;
  while (!(await isReady(port))) {
    if (exited || Date.now() > deadlineMs) {
      child.kill('SIGKILL');
      throw new Error(`the API server did not start:\n${log.join('')}`);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  return {
    url: `https://127.0.0.1:${port}`,
    log: () => log.join(''),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Names of the cases that passed and failed. */
function replayCases(url, filter, directory, dialect) {
  const results = join(directory, 'results.json');
  const args = [replay, '--server', url, '--insecure', '--quiet', '--json', results];
  args.push('--dialect', dialect);
  if (filter) args.push('--filter', filter);
  const child = spawn(process.execPath, [...args, cases], { stdio: 'inherit' });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', () => {
      if (existsSync(results)) done(JSON.parse(readFileSync(results, 'utf8')));
      else fail(new Error('the replay left no results'));
    });
  });
}

const update = process.argv.includes('--update');
const only = option('--only');
const summaryFile = option('--summary');
const listed = JSON.parse(readFileSync(expectedFile, 'utf8'));
const wanted = only ? listed.filter((name) => new RegExp(only).test(name)) : listed;
let passed = 0;
let failed = 0;

/** Replays against a fresh server that speaks this dialect, and counts. */
async function replayIn(dialect) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-conformance-'));
  let server;
  try {
    server = await startServer(directory, dialect);
    const filter = update ? undefined : `^(${wanted.join('|')})$`;
    const { results: outcomes } = await replayCases(server.url, filter, directory, dialect);
    const ok = new Set(
      outcomes.filter((result) => result.passed).map(({ area, name }) => `${area}/${name}`),
    );
    if (update) rewriteList([...ok].sort(), outcomes.length);
    const missing = update ? [] : wanted.filter((name) => !ok.has(name));
    passed += (update ? ok.size : wanted.length) - missing.length;
    failed += missing.length;
    for (const name of missing) console.log(`expected to pass in the ${dialect} dialect: ${name}`);
  } catch (error) {
    console.error(error.message);
    failed += 1;
    if (server) console.error(server.log());
  } finally {
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function rewriteList(names, caseCount) {
  writeFileSync(expectedFile, `${JSON.stringify(names, undefined, 2)}\n`);
  console.log(`${names.length} of ${caseCount} cases pass and are expected from now on`);
  const lost = listed.filter((name) => !names.includes(name));
  if (lost.length > 0) console.log(`no longer passing: ${lost.join(', ')}`);
}

for (const dialect of update ? ['orch'] : ['orch', 'kubernetes']) await replayIn(dialect);
if (summaryFile) writeFileSync(summaryFile, JSON.stringify({ passed, failed }));
console.log(`conformance: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
