/**
 * Makes `etcd` available to the tests of the store over external etcd: does nothing where it is on the
 * path, else installs the distribution's package, which needs root and apt. Fails with what to do.
 */
import { spawnSync } from 'node:child_process';

const installTimeoutMs = 300_000;

function works() {
  return spawnSync('etcd', ['--version'], { stdio: 'ignore' }).status === 0;
}

function install() {
  const options = {
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: installTimeoutMs,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  for (const args of [['update'], ['install', '-y', '--no-install-recommends', 'etcd-server']]) {
    if (spawnSync('apt-get', ['-qq', ...args], options).status !== 0) return false;
  }
  return true;
}

if (!works()) {
  console.error('installing etcd-server (apt-get), which tests of the store need ...');
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !install() || !works()) {
    console.error(
      'etcd is not installed and could not be: install the package etcd-server, or put etcd 3.4 or newer on the path',
    );
    process.exitCode = 1;
  }
}
