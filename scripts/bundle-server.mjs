/**
 * Makes one file of what the API server loads, in place of its `main.js`: without it most of a start is
 * spent finding and reading some two thousand small files. The thread of its replica is another file,
 * `raft-worker.mjs` beside it. Takes the built tree: node scripts/bundle-server.mjs dist
 */
import { renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const tree = resolve(process.argv[2] ?? 'dist');
const server = join(tree, 'apps', 'apiserver', 'src');
const main = join(server, 'main.js');
const bundled = `${main}.bundled`;

// Without `keepNames`: it would name every closure anew, each time that one is made, which costs a create 5%.
const settings = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
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
};

await build({ ...settings, entryPoints: [main], outfile: bundled });
renameSync(bundled, main);
await build({
  ...settings,
  entryPoints: [join(tree, 'libs', 'raft', 'src', 'host', 'worker-main.js')],
  outfile: join(server, 'raft-worker.mjs'),
  plugins: [{ name: 'only-what-is-used', setup: dropUnused }],
});

/** The thread uses little of what all processes are made of: loading the rest would double its start. */
function dropUnused({ onResolve }) {
  const component = join(tree, 'libs', 'component', 'src');
  onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
    const file = resolve(resolveDir, path);
    return file.startsWith(component) ? { path: file, sideEffects: false } : undefined;
  });
}
