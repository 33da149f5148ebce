/**
 * Starts the built programs for the conformance runs: an API server that is set up as the recorded
 * one, and other components beside it. Each has a directory of its own below a temporary one.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { encryptionFlags } from './encryption.mjs';

const root = resolve(import.meta.dirname, '../..');
const startTimeoutMs = 30_000;
const logChunkCountMax = 200;
const tokens = ['admintoken,admin,admin-uid,"system:masters"', 'alicetoken,alice,alice-uid,"dev"'];

/** Returns the value of a command line option of this process, such as `--only`. */
export function option(name) {
  const index = process.argv.indexOf(name);
  return index < 0 ? undefined : process.argv[index + 1];
}

export function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', fail);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

function isReady(port, path) {
  return new Promise((done) => {
    const probe = request(
      { host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false },
      (response) => {
        response.resume();
        response.once('end', () => done(response.statusCode === 200));
      },
    );
    probe.once('error', () => done(false));
    probe.end();
  });
}

/**
 * Starts `apps/<app>` and waits until `probePath` at `--secure-port` returns 200.
 * @returns its address, its last output and a function that stops it.
 */
export async function startProgram(app, { port, probePath, args }) {
  const log = [];
  const main = join(root, 'dist/apps', app, 'src/main.js');
  const all = [main, `--secure-port=${port}`, '--bind-address=127.0.0.1', ...args];
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      log.push(String(chunk));
      if (log.length > logChunkCountMax) log.shift();
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
  while (!(await isReady(port, probePath))) {
    if (exited || Date.now() > deadlineMs) {
      child.kill('SIGKILL');
      throw new Error(`${app} did not start:\n${log.join('')}`);
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

/**
 * Starts an API server with the users and addresses of the recorded one. `extraArgs` replace the
 * arguments for the same flags.
 */
export async function startServer(directory, dialect, extraArgs = []) {
  const tokenFile = join(directory, 'tokens.csv');
  writeFileSync(tokenFile, `${tokens.join('\n')}\n`);
  const nameOf = (flag) => flag.split('=', 1)[0];
  const replaced = new Set(extraArgs.map(nameOf));
  const common = [
    `--data-dir=${join(directory, 'data')}`,
    `--dialect=${dialect}`,
    `--token-auth-file=${tokenFile}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-node-port-range=30000-32767',
    '--service-account-issuer=https://orch.local',
    '--api-audiences=api',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    ...encryptionFlags(dialect),
  ];
  const args = [...common.filter((flag) => !replaced.has(nameOf(flag))), ...extraArgs];
  return startProgram('apiserver', { port: await freePort(), probePath: '/readyz', args });
}

/** Runs a tool of this folder. Resolves to its output when it has ended, whatever its result. */
export function runTool(tool, args) {
  const child = spawn(process.execPath, [join(import.meta.dirname, tool), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', () => done(output));
  });
}

/**
 * Replays the cases of folders below this one.
 * @returns the result of each case and the output of the replayer.
 */
export async function replayCases(url, { directory, dialect, folders, filter, concurrency }) {
  const results = join(directory, 'results.json');
  const args = ['--server', url, '--insecure', '--quiet', '--json', results, '--dialect', dialect];
  if (filter) args.push('--filter', filter);
  if (concurrency) args.push('--concurrency', String(concurrency));
  const paths = folders.map((folder) => join(import.meta.dirname, folder));
  const output = await runTool('replay.mjs', [...args, ...paths]);
  if (!existsSync(results)) throw new Error(`the replay wrote no results:\n${output}`);
  return { ...JSON.parse(readFileSync(results, 'utf8')), output };
}

/**
 * Counts the results: a case must pass unless `failing` lists it with a reason, and a listed case
 * must fail. Reports each case that does not.
 */
export function countResults(results, failing, dialect) {
  const counts = { passed: 0, failed: 0 };
  for (const { area, name, passed } of results) {
    const reason = failing[`${area}/${name}`];
    if (passed === (reason === undefined)) {
      if (passed) counts.passed += 1;
      continue;
    }
    counts.failed += 1;
    const outcome = passed ? `passed, but is listed as failing: ${reason}; remove it` : 'failed';
    console.log(`${area}/${name} in the ${dialect} dialect: ${outcome}`);
  }
  return counts;
}

/** The names listed as failing that no case has. */
export function unknownNames(failing, results) {
  const known = new Set(results.map(({ area, name }) => `${area}/${name}`));
  return Object.keys(failing).filter((name) => !known.has(name));
}
