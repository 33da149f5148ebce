/**
 * Makes `etcd` available to the tests of the store over external etcd. If no etcd is on the path,
 * it installs the distribution's package, which needs root and apt; if that fails, it prints the
 * remedy.
 */
import { spawnSync } from 'node:child_process';

const installTimeoutMs = 300_000;

function isAvailable() {
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

if (!isAvailable()) {
  console.error('installing etcd-server (apt-get) for the tests of the store ...');
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || !install() || !isAvailable()) {
    console.error(
      'installing etcd failed: install the package etcd-server, or put etcd 3.4 or newer on the path',
    );
    process.exitCode = 1;
  }
}
