/**
 * The lower layer: the Node that runs this script (npm scripts run on that of the lock file), the
 * shared libraries of Node and the add-ons, and the files of /etc that programs need. No shell, no
 * package manager.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';

export const user = { name: 'orch', id: 65_532 };
const authorities = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Entries for `tar`. `addOns`: paths of native add-ons. Throws if this machine lacks a required
 * file.
 */
export function runtimeLayer(addOns) {
  const node = realpathSync(process.execPath);
  const libraries = [...new Set([node, ...addOns].flatMap(sharedLibraries))];
  if (!existsSync(authorities)) {
    throw new Error(`${authorities} is missing: install the package ca-certificates`);
  }
  return [
    fileEntry('usr/bin/node', node, 0o755),
    ...libraries.map((path) => fileEntry(path.slice(1), realpathSync(path), 0o755)),
    fileEntry(authorities.slice(1), realpathSync(authorities), 0o644),
    text('etc/passwd', [
      'root:x:0:0:root:/:/sbin/nologin',
      `${user.name}:x:${user.id}:${user.id}::/:/sbin/nologin`,
    ]),
    text('etc/group', ['root:x:0:', `${user.name}:x:${user.id}:`]),
    text('etc/nsswitch.conf', ['passwd: files', 'group: files', 'hosts: files dns']),
    text('etc/os-release', osRelease()),
    { path: 'tmp', type: 'directory', mode: 0o1777 },
  ];
}

/** The paths of the shared libraries of a program or add-on, including the loader. */
function sharedLibraries(program) {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n');
  return lines.flatMap((line) => {
    if (line.includes('not found')) throw new Error(`${program}: ${line.trim()}`);
    const path = /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1];
    return path ? [path] : [];
  });
}

/** The system that the libraries come from, for image scanners. */
function osRelease() {
  const wanted = /^(ID|VERSION_ID|PRETTY_NAME)=/;
  return readFileSync('/etc/os-release', 'utf8')
    .split('\n')
    .filter((line) => wanted.test(line));
}

function fileEntry(path, source, mode) {
  return { path, type: 'file', mode, source, size: statSync(source).size };
}

function text(path, lines) {
  return { path, type: 'file', mode: 0o644, content: Buffer.from(`${lines.join('\n')}\n`) };
}
