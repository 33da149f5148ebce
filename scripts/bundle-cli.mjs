/**
 * Makes one file out of what `orchctl` loads for a command that asks a server, so that it starts at
 * once: without it a thousand small files are read, most of them for other processes. `up` and `down` stay
 * as they are. Takes the built tree: node scripts/bundle-cli.mjs dist
 */
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const tree = resolve(process.argv[2] ?? 'dist');
const folder = join(tree, 'apps', 'orchctl', 'src');
const staging = mkdtempSync(join(tree, '.bundle-'));

/** What our modules import does nothing when loaded but define: what nobody asks for is left out. */
const definesOnly = {
  name: 'defines-only',
  setup(bundler) {
    bundler.onResolve({ filter: /./ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === definesOnly || !from.importer.startsWith(tree)) return undefined;
      const { importer, resolveDir, kind, namespace } = from;
      const found = await bundler.resolve(path, {
        importer,
        resolveDir,
        kind,
        namespace,
        pluginData: definesOnly,
      });
      if (found.errors.length > 0 || found.external) return found;
      return { ...found, sideEffects: false };
    });
  },
};

try {
  await build({
    entryPoints: [join(folder, 'cli.js')],
    outdir: staging,
    bundle: true,
    splitting: true,
    chunkNames: 'cli-[name]-[hash]',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    plugins: [definesOnly],
    // Has a library of its own beside it; for commands that work on data directories.
    external: ['classic-level'],
    // Packages in the older module form call it.
    banner: {
      js: "import { createRequire as createRequireHere } from 'node:module';\nconst require = createRequireHere(import.meta.url);",
    },
    logLevel: 'warning',
    // What the plug-in is for.
    logOverride: { 'ignored-bare-import': 'silent' },
  });
  for (const file of readdirSync(folder)) if (file.startsWith('cli-')) rmSync(join(folder, file));
  for (const file of readdirSync(staging)) copyFileSync(join(staging, file), join(folder, file));
} finally {
  rmSync(staging, { recursive: true, force: true });
}
