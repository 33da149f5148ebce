/**
 * Makes the repository ready to run: dependencies as in package-lock.json, `dist` built from the sources
 * as they are now, `node_modules/.bin/orchctl`. Does nothing that is done already. Needs nothing but Node
 * and npm; `up.mjs` and the tests call it first.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
/** The built command line. */
export const orchctlMain = join(root, 'dist', 'apps', 'orchctl', 'src', 'main.js');
const stampPath = join(root, 'dist', '.built-from');
const nodeWanted = [20, 20];
const lockWaitMs = 300_000;

/** Installs and builds what is missing or stale. Progress goes to standard error. */
export function setup() {
  checkNode();
  if (installed() && built()) return;
  withLock(() => {
    if (!installed()) {
      say('installing dependencies (npm ci), this takes a minute ...');
      command('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
    }
    if (!built()) {
      say('building ...');
      const startedMs = performance.now();
      build();
      say(`built in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
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

/** Whether every package of the lock file is there in its version; optional ones may be missing. */
function installed() {
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

function built() {
  if (!existsSync(stampPath)) return false;
  return readFileSync(stampPath, 'utf8') === sourcesHash() && linkIsThere();
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
    'scripts/bundle-server.mjs',
  ])
    addFile(hash, join(root, file));
  return hash.digest('hex');
}

function addFile(hash, path) {
  const { size, mtimeMs } = statSync(path);
  hash.update(`${path} ${size} ${mtimeMs}\n`);
}

/** Builds beside `dist` and swaps, so that a failed build leaves the old one and no file outlives its source. */
function build() {
  const next = join(root, `dist.${process.pid}`);
  const old = join(root, `dist.${process.pid}.old`);
  const hash = sourcesHash();
  try {
    const swc = join(root, 'node_modules', '.bin', 'swc');
    command(swc, ['apps', 'libs', '-d', next, '--config-file', '.swcrc', '--copy-files', '-q']);
    command(process.execPath, [join(root, 'scripts', 'bundle-cli.mjs'), next]);
    command(process.execPath, [join(root, 'scripts', 'bundle-server.mjs'), next]);
    writeFileSync(join(next, '.built-from'), hash);
    if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), old);
    renameSync(next, join(root, 'dist'));
  } finally {
    rmSync(next, { recursive: true, force: true });
    rmSync(old, { recursive: true, force: true });
  }
  if (!linkIsThere()) {
    const link = linkPath();
    rmSync(link, { force: true });
    symlinkSync(linkTarget, link);
  }
}

const linkTarget = join('..', '..', 'apps', 'orchctl', 'bin', 'orchctl.mjs');

function linkPath() {
  return join(root, 'node_modules', '.bin', 'orchctl');
}

/** `npx orchctl` finds commands of other packages only; this is the one of our own. */
function linkIsThere() {
  try {
    return readlinkSync(linkPath()) === linkTarget;
  } catch {
    // Not there, or no link: it is made.
    return false;
  }
}

/** One setup at a time in this checkout. */
function withLock(work) {
  const lock = join(root, '.cache', 'setup.lock');
  mkdirSync(dirname(lock), { recursive: true });
  const deadlineMs = performance.now() + lockWaitMs;
  for (let told = false; ; ) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!lockHolderLives(lock)) rmSync(lock, { force: true });
      else if (performance.now() > deadlineMs) {
        throw new SetupError(`another setup holds ${lock} for too long; end it or remove the file`);
      } else {
        if (!told) say('waiting for another setup of this checkout ...');
        told = true;
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

function lockHolderLives(lock) {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    if (!pid) return statSync(lock).mtimeMs > Date.now() - 5_000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function command(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error) throw new SetupError(`cannot run ${program}: ${error.message}`);
  if (status !== 0) throw new SetupError(`${program} ${args[0]} ended with ${status}, see above`);
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

export class SetupError extends Error {}

/** As `setup`, ending the process with one line when it cannot be done. */
export function setupOrExit() {
  try {
    setup();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    process.exit(1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setupOrExit();
