/**
 * Bundles the modules of `orchctl` into one file for each command, with common chunks, because
 * loading a thousand small files makes each command start slowly. The argument is the built tree:
 * node scripts/bundle-cli.mjs dist
 */
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const tree = resolve(process.argv[2] ?? 'dist');
const folder = join(tree, 'apps', 'orchctl', 'src');
const staging = mkdtempSync(join(tree, '.bundle-'));

/** The only import that changes something when it is loaded. */
const withEffect = 'reflect-metadata';

/** Drops unused imports of our modules, which only define things when they are loaded. */
const definesOnly = {
  name: 'defines-only',
  setup(bundler) {
    bundler.onResolve({ filter: /./ }, async ({ path, pluginData, ...from }) => {
      if (pluginData === definesOnly || !from.importer.startsWith(tree)) return undefined;
      if (path === withEffect) return undefined;
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
    entryPoints: ['cli.js', 'cluster.js'].map((file) => join(folder, file)),
    outdir: staging,
    bundle: true,
    splitting: true,
    chunkNames: 'cli-[name]-[hash]',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    plugins: [definesOnly],
    // Has a native library beside it; for commands on data directories.
    external: ['classic-level'],
    // CommonJS packages call `require`.
    banner: {
      js: "import { createRequire as createRequireHere } from 'node:module';\nconst require = createRequireHere(import.meta.url);",
    },
    logLevel: 'warning',
    // The plug-in removes imports on purpose.
    logOverride: { 'ignored-bare-import': 'silent' },
  });
  for (const file of readdirSync(folder)) if (file.startsWith('cli-')) rmSync(join(folder, file));
  for (const file of readdirSync(staging)) copyFileSync(join(staging, file), join(folder, file));
} finally {
  rmSync(staging, { recursive: true, force: true });
}
