/**
 * Prepares a checkout: installs the dependencies of package-lock.json, builds `dist` from the
 * current sources and links `node_modules/.bin/orchctl`. Steps that are up to date are skipped.
 * Needs only Node and npm; `up.mjs` and the tests call it first. `--install-only` skips the build.
 *
 * One dependency is Node itself (`node-linux-*`): npm scripts run on it from then on, and the
 * script that installed it continues on it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** The built command line. */
export const orchctlMain = join(root, 'dist', 'apps', 'orchctl', 'src', 'main.js');
const stampPath = join(root, 'dist', '.built-from');
const nodeWanted = [20, 20];
const lockWaitMs = 300_000;

/**
 * Installs, and unless `installOnly` builds, if missing or stale. Progress goes to standard error.
 */
export function setup({ installOnly = false } = {}) {
  checkNode();
  const needsBuild = () => !installOnly && !isBuilt();
  if (isInstalled() && !needsBuild()) return;
  withLock(() => {
    if (!isInstalled()) {
      log('installing dependencies (npm ci), this takes a minute ...');
      runCommand('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
    }
    if (needsBuild()) {
      log('building ...');
      const startedMs = performance.now();
      build();
      log(`built in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
    }
  });
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > nodeWanted[0] || (major === nodeWanted[0] && minor >= nodeWanted[1])) return;
  throw new SetupError(
    `Node.js ${process.versions.node} is too old, install ${nodeWanted.join('.')} or newer`,
  );
}

/** Whether every package of the lock file is installed in its version, except optional packages. */
function isInstalled() {
  const hiddenLockPath = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hiddenLockPath)) return false;
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(hiddenLockPath);
  return Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' || (present[path] ? present[path].version === version : optional === true),
  );
}

function packagesOf(lockPath) {
  return JSON.parse(readFileSync(lockPath, 'utf8')).packages;
}

function isBuilt() {
  if (!existsSync(stampPath)) return false;
  return readFileSync(stampPath, 'utf8') === sourcesHash() && linkExists();
}

/** Changes when a source file is added, removed or written. */
function sourcesHash() {
  const hash = createHash('sha256');
  for (const folder of ['apps', 'libs']) {
    const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    const paths = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
    for (const path of paths) addFile(hash, path);
  }
  for (const file of [
    '.swcrc',
    'package-lock.json',
    'scripts/bundle-cli.mjs',
    'scripts/bundle-components.mjs',
    'scripts/bundle-server.mjs',
    'scripts/bundle-settings.mjs',
  ])
    addFile(hash, join(root, file));
  return hash.digest('hex');
}

function addFile(hash, path) {
  const { size, mtimeMs } = statSync(path);
  hash.update(`${path} ${size} ${mtimeMs}\n`);
}

/**
 * Builds into another folder and swaps it with `dist`, so that a failed build changes nothing and
 * no output outlives its source.
 */
function build() {
  const next = join(root, `dist.${process.pid}`);
  const old = join(root, `dist.${process.pid}.old`);
  const hash = sourcesHash();
  try {
    const swc = join(root, 'node_modules', '.bin', 'swc');
    runCommand(swc, ['apps', 'libs', '-d', next, '--config-file', '.swcrc', '--copy-files', '-q']);
    runCommand(process.execPath, [join(root, 'scripts', 'bundle-cli.mjs'), next]);
    runCommand(process.execPath, [join(root, 'scripts', 'bundle-components.mjs'), next]);
    runCommand(process.execPath, [join(root, 'scripts', 'bundle-server.mjs'), next]);
    writeFileSync(join(next, '.built-from'), hash);
    if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old);
    renameSync(next, join(root, 'dist'));
  } finally {
    rmSync(next, { recursive: true, force: true });
    rmSync(old, { recursive: true, force: true });
  }
  if (!linkExists()) {
    const link = linkPath();
    rmSync(link, { force: true });
    symlinkSync(linkTarget, link);
  }
}

const linkTarget = join('..', '..', 'apps', 'orchctl', 'bin', 'orchctl.mjs');

function linkPath() {
  return join(root, 'node_modules', '.bin', 'orchctl');
}

/**
 * `npx orchctl` only finds commands in `node_modules/.bin`, where npm puts no command of this
 * package.
 */
function linkExists() {
  try {
    return readlinkSync(linkPath()) === linkTarget;
  } catch {
    // Missing, or a file: the build creates the link.
    return false;
  }
}

/** Runs `work` while no other setup of this checkout runs. */
function withLock(work) {
  const lock = join(root, '.cache', 'setup.lock');
  mkdirSync(dirname(lock), { recursive: true });
  const deadlineMs = performance.now() + lockWaitMs;
  for (let isLogged = false; ; ) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!isLockHolderAlive(lock)) rmSync(lock, { force: true });
      else if (performance.now() > deadlineMs) {
        throw new SetupError(
          `another setup has held ${lock} for ${lockWaitMs / 1000} s; end it or remove the file`,
        );
      } else {
        if (!isLogged) log('waiting for another setup of this checkout ...');
        isLogged = true;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      }
    }
  }
  try {
    work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function isLockHolderAlive(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    if (!pid) return statSync(lock).mtimeMs > Date.now() - 5_000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function runCommand(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error) throw new SetupError(`cannot run ${program}: ${error.message}`);
  if (status !== 0) throw new SetupError(`${program} ${args[0]} ended with ${status}, see above`);
}

function log(text) {
  process.stderr.write(`${text}\n`);
}

export class SetupError extends Error {}

/** Runs `setup`; if it fails, prints the reason and exits with 1. */
export function setupOrExit(options) {
  try {
    setup(options);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    log(error.message);
    process.exit(1);
  }
}

/**
 * Runs `setup`; if it fails, prints the reason and exits with 1. Then continues on the Node of
 * package-lock.json: unless this process runs on it, the same command is started on it, and this
 * process only passes on the end.
 */
export async function setupAndContinue() {
  setupOrExit();
  const node = join(root, 'node_modules', '.bin', 'node');
  // npm installs none on other platforms.
  if (!existsSync(node) || realpathSync(node) === realpathSync(process.execPath)) return;
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  // A terminal interrupts both.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const [code, signal] = await once(child, 'exit');
  process.exit(code ?? 128 + constants.signals[signal]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setupOrExit({ installOnly: process.argv.includes('--install-only') });
}
