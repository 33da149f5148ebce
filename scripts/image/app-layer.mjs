/**
 * The upper layer, /opt/orch: the built tree, its runtime packages, the programs of the chart, and
 * a command for each component in bin/. Omits files that only builds, tests and editors read, and
 * native add-ons for other platforms and C libraries.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const target = 'opt/orch';
const components = [
  ...['apiserver', 'controller-manager', 'scheduler', 'node-agent', 'proxy', 'components'],
];
const leftOut = /\.(?:map|md|markdown|[cm]?ts|tsbuildinfo)$|\.spec\.[cm]?js$|\.musl\.node$/;
const nativePlatform = `${process.platform}-${process.arch}`;

/** Entries for `tar`. `root`: the repository; `tree`: its built tree. */
export function appLayer(root, tree) {
  const entries = [
    ...folder(tree, `${target}/dist`),
    ...folder(join(root, 'scripts/image/cluster'), `${target}/cluster`),
    ...productionPackages(root).flatMap((path) =>
      folder(join(root, path), `${target}/${path}`, ['node_modules']),
    ),
    content(`${target}/package.json`, 0o644, packageText(root)),
    command('orchctl', 'orchctl'),
    ...components.map((component) => command(`orch-${component}`, component)),
  ];
  const main = `${target}/dist/apps/orchctl/src/main.js`;
  if (!entries.some(({ path }) => path === main))
    throw new Error(`${tree} is not a built tree: run npm run setup`);
  return entries;
}

/** The native add-ons among the entries. The lower layer contains their libraries. */
export function addOnsOf(entries) {
  return entries.filter(({ path }) => path.endsWith('.node')).map(({ source }) => source);
}

/** The folders of all installed packages that are no development dependencies in the lock file. */
function productionPackages(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev, optional, devOptional }]) => {
      // Node itself is in the lower layer.
      if (path === '' || dev || path.startsWith('node_modules/node-linux-')) return false;
      if (existsSync(join(root, path))) return true;
      if (optional || devOptional) return false;
      throw new Error(`${path} is not installed: run npm ci`);
    })
    .map(([path]) => path);
}

function folder(source, path, without = []) {
  return readdirSync(source, { withFileTypes: true }).flatMap((member) => {
    const from = join(source, member.name);
    const to = `${path}/${member.name}`;
    if (without.includes(member.name) || member.name.startsWith('.')) return [];
    if (member.isDirectory()) return isForeign(path, member.name) ? [] : folder(from, to);
    if (!member.isFile() || leftOut.test(member.name)) return [];
    return [{ path: to, type: 'file', mode: 0o644, source: from, size: statSync(from).size }];
  });
}

/** Whether a folder holds add-ons for another platform. */
function isForeign(path, name) {
  return path.endsWith('/prebuilds') && name !== nativePlatform;
}

function packageText(root) {
  const { name, version, type, license } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return `${JSON.stringify({ name, version, private: true, type, license }, null, 2)}\n`;
}

function command(name, app) {
  const main = `/${target}/dist/apps/${app}/src/main.js`;
  const lines = ['#!/usr/bin/node', `process.argv[1] = '${main}';`, `import('${main}');`, ''];
  return content(`${target}/bin/${name}`, 0o755, lines.join('\n'));
}

function content(path, mode, text) {
  return { path, type: 'file', mode, content: Buffer.from(text) };
}
