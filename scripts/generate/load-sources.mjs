/** Loads the product's own code for generators. It needs the generated types. */
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Bundles a TypeScript module of the repository `root` and imports it. */
export async function loadSources(root, path) {
  const bundle = join(root, 'dist', `${basename(path, '.ts')}-${process.pid}.mjs`);
  mkdirSync(join(root, 'dist'), { recursive: true });
  try {
    await build({
      entryPoints: [join(root, path)],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      tsconfig: join(root, 'tsconfig.json'),
      logLevel: 'warning',
    });
    return await import(pathToFileURL(bundle).href);
  } finally {
    rmSync(bundle, { force: true });
  }
}
