/**
 * Makes one file of what the API server loads, in place of its `main.js`: without it most of a start is
 * spent finding and reading some two thousand small files. Takes the built tree:
 * node scripts/bundle-server.mjs dist
 */
import { renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const tree = resolve(process.argv[2] ?? 'dist');
const main = join(tree, 'apps', 'apiserver', 'src', 'main.js');
const bundled = `${main}.bundled`;

await build({
  entryPoints: [main],
  outfile: bundled,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // Errors and modules are known by the names of their classes.
  keepNames: true,
  external: [
    // Finds its native part beside itself.
    'classic-level',
    // What the framework loads only where it is installed.
    '@fastify/multipart',
    '@fastify/static',
    '@fastify/view',
    '@nestjs/microservices',
    '@nestjs/platform-express',
    '@nestjs/websockets',
    'class-transformer',
  ],
  // Packages in the older module form call it.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module';\nconst require = createRequireHere(import.meta.url);",
  },
  logLevel: 'warning',
});
renameSync(bundled, main);
