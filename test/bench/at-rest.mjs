/**
 * CPU and memory of `npm run up` with nothing deployed, by process. Memory is the proportional set
 * size: a page that several processes share counts in parts. `--settle=S` and `--seconds=S` set how
 * long it waits and measures; arguments after `--` go to `orchctl up`.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { freePorts, makeDirectory, removeDirectory } from './bench-files.mjs';
import { cpuUs, proportionalBytes } from './proc.mjs';
import { printRow } from './row.mjs';

const separator = process.argv.indexOf('--', 2);
const own = process.argv.slice(2, separator < 0 ? undefined : separator);
const upArguments = separator < 0 ? [] : process.argv.slice(separator + 1);
const isShort = own.includes('--short');
const settleSeconds = numberOf('--settle', isShort ? 1 : 40);
const seconds = numberOf('--seconds', isShort ? 1 : 60);

const readyTimeoutMs = 120_000;
const directory = await makeDirectory('at-rest');
const [port] = await freePorts(1);
const script = join(import.meta.dirname, '../../scripts/up.mjs');
const supervisor = spawn(
  process.execPath,
  [script, '--data-dir', join(directory, 'cluster'), '--port', String(port), ...upArguments],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
const exited = new Promise((done) => supervisor.once('exit', done));
try {
  await Promise.race([untilReady(), exited.then(endedEarly)]);
  await sleepSeconds(settleSeconds);
  await measure();
} finally {
  supervisor.kill('SIGTERM');
  await exited;
  await removeDirectory(directory);
}

async function measure() {
  const pids = [supervisor.pid, ...descendants(supervisor.pid)];
  const before = new Map(pids.map((pid) => [pid, cpuUs(pid)]));
  const startedMs = performance.now();
  await sleepSeconds(seconds);
  const elapsedUs = (performance.now() - startedMs) * 1_000;
  let shareOfAll = 0;
  let bytesOfAll = 0;
  for (const pid of pids) {
    const share = (cpuUs(pid) - before.get(pid)) / elapsedUs;
    const bytes = proportionalBytes(pid);
    shareOfAll += share;
    bytesOfAll += bytes;
    printRow(nameOf(pid), percent(share), `of one core, ${megabytes(bytes)} proportional set size`);
  }
  const detail = `of one core, ${megabytes(bytesOfAll)}, ${pids.length} processes`;
  printRow('all processes', percent(shareOfAll), detail);
}

/** Resolves when `up` has printed that the cluster is ready. */
function untilReady() {
  return new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error('the cluster is not ready')), readyTimeoutMs);
    let text = '';
    supervisor.stdout.on('data', (chunk) => {
      text += chunk;
      if (!text.includes('Ready after')) return;
      clearTimeout(timer);
      text = '';
      done();
    });
  });
}

function endedEarly(code) {
  throw new Error(`orchctl up ended with exit code ${code}`);
}

function descendants(parent) {
  const children = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => parentOf(pid) === parent)
    .map(Number);
  return children.flatMap((pid) => [pid, ...descendants(pid)]);
}

function parentOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(') ') + 2).split(' ')[1]);
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined;
    throw error;
  }
}

/** The program, with the file of its kubeconfig or its data directory if it has one. */
function nameOf(pid) {
  const parts = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  if (pid === supervisor.pid) return 'orchctl up';
  const owner = parts.find((part) => /^--(kubeconfig|data-dir)=/.test(part));
  const program = basename(dirname(dirname(parts[1])));
  if (program === 'components') return program;
  return owner === undefined ? program : `${program}, ${basename(owner, '.kubeconfig')}`;
}

function numberOf(name, fallback) {
  const given = own.find((argument) => argument.startsWith(`${name}=`));
  return given === undefined ? fallback : Number(given.slice(name.length + 1));
}

function percent(share) {
  return `${(share * 100).toFixed(2)}%`;
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function sleepSeconds(count) {
  return new Promise((done) => setTimeout(done, count * 1_000));
}
