/**
 * The pages of `docs/api`. They are made from the kinds as the product defines them, so that its code is
 * bundled and loaded here; it needs the generated types, which must be written before.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Path relative to `docs/api` to text. `root`: of the repository. */
export async function referencePages(root) {
  const bundle = join(root, 'dist', `reference-${process.pid}.mjs`);
  mkdirSync(join(root, 'dist'), { recursive: true });
  try {
    await build({
      entryPoints: [join(root, 'scripts/reference/main.ts')],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      packages: 'external',
      tsconfig: join(root, 'tsconfig.json'),
      logLevel: 'warning',
    });
    const { referencePages } = await import(pathToFileURL(bundle).href);
    return referencePages(join(root, 'examples/api'));
  } finally {
    rmSync(bundle, { force: true });
  }
}
