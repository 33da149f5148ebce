/**
 * Starts an API server of its own in each dialect and replays the recorded cases against it. All have to
 * pass but those that `failing.json` names with the reason; one of them that passes is a failure, too, as
 * its reason has gone. Options: `--summary FILE` writes the counts, `--only REGEX` replays some cases.
 * The server is the built one: run `npm run build` first.
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
const failing = JSON.parse(readFileSync(join(import.meta.dirname, 'failing.json'), 'utf8'));
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

/** The result of each case, and what the replayer said. */
function replayCases(url, filter, directory, dialect) {
  const results = join(directory, 'results.json');
  const args = [replay, '--server', url, '--insecure', '--quiet', '--json', results];
  args.push('--dialect', dialect);
  if (filter) args.push('--filter', filter);
  const child = spawn(process.execPath, [...args, cases], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', () => {
      if (existsSync(results)) done({ ...JSON.parse(readFileSync(results, 'utf8')), said });
      else fail(new Error(`the replay left no results:\n${said}`));
    });
  });
}

const only = option('--only');
const summaryFile = option('--summary');
let passed = 0;
let failed = 0;

/** Replays against a fresh server that speaks this dialect, and counts. */
async function replayIn(dialect) {
  const directory = mkdtempSync(join(tmpdir(), 'orch-conformance-'));
  let server;
  try {
    server = await startServer(directory, dialect);
    const { results, said } = await replayCases(server.url, only, directory, dialect);
    const failedBefore = failed;
    for (const { area, name, passed: isPassed } of results) {
      const reason = failing[`${area}/${name}`];
      if (isPassed === (reason === undefined)) passed += isPassed ? 1 : 0;
      else {
        failed += 1;
        const what = isPassed ? `passes, although ${reason}` : 'failed';
        console.log(`${area}/${name} in the ${dialect} dialect: ${what}`);
      }
    }
    if (failed > failedBefore) console.log(said);
    const missing = only ? [] : Object.keys(failing).filter((name) => !isReplayed(results, name));
    failed += missing.length;
    for (const name of missing) console.log(`there is no case ${name}`);
  } catch (error) {
    console.error(error.message);
    failed += 1;
    if (server) console.error(server.log());
  } finally {
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function isReplayed(results, wanted) {
  return results.some(({ area, name }) => `${area}/${name}` === wanted);
}

for (const dialect of ['orch', 'kubernetes']) await replayIn(dialect);
for (const [name, reason] of Object.entries(failing)) console.log(`not yet: ${name}: ${reason}`);
if (summaryFile) writeFileSync(summaryFile, JSON.stringify({ passed, failed }));
console.log(`conformance: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
