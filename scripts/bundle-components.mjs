/**
 * Replaces `main.js` of the components other than the API server by bundles, because finding and
 * reading a thousand small files takes most of their start, and their modules need memory in every
 * process. Modules that several components use are in common chunks, so that a process of several
 * components loads them once. The argument is the built tree:
 * node scripts/bundle-components.mjs dist
 */
import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { escapeNonAscii, settings } from './bundle-settings.mjs';

const tree = resolve(process.argv[2] ?? 'dist');
const apps = join(tree, 'apps');
const chunks = 'chunks';
const components = ['controller-manager', 'scheduler', 'node-agent', 'proxy', 'components'];
/** Programs that the node agent runs; it finds them beside its own module. */
const programs = ['dial.cjs', 'shim.sh'];

const staging = mkdtempSync(join(tree, '.bundle-'));
try {
  const { metafile } = await build({
    ...settings,
    entryPoints: components.map((name) => join(apps, name, 'src', 'main.js')),
    outbase: apps,
    outdir: staging,
    splitting: true,
    chunkNames: `${chunks}/[name]-[hash]`,
    metafile: true,
  });
  for (const file of Object.keys(metafile.outputs)) escapeNonAscii(resolve(file));
  for (const program of programs) {
    const source = join(tree, 'libs', 'node', 'src', 'runtimes', 'process', program);
    copyFileSync(source, join(staging, chunks, program));
  }
  rmSync(join(apps, chunks), { recursive: true, force: true });
  cpSync(staging, apps, { recursive: true });
} finally {
  rmSync(staging, { recursive: true, force: true });
}
