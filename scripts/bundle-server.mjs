/**
 * Replaces `main.js` of the API server by a bundle, because finding and reading two thousand small
 * files takes most of its start. The thread of its replica is a second bundle, `raft-worker.mjs`.
 * The argument is the built tree: node scripts/bundle-server.mjs dist
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const tree = resolve(process.argv[2] ?? 'dist');
const server = join(tree, 'apps', 'apiserver', 'src');
const main = join(server, 'main.js');
const bundled = `${main}.bundled`;

// No `keepNames`: it sets the name of every closure that is created, which makes a create 5%
// slower.
const settings = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  external: [
    // Loads its native library from its own directory.
    'classic-level',
    // Optional packages of the framework.
    '@fastify/multipart',
    '@fastify/static',
    '@fastify/view',
    '@nestjs/microservices',
    '@nestjs/platform-express',
    '@nestjs/websockets',
    'class-transformer',
  ],
  // CommonJS packages call `require`.
  banner: {
    js: "import { createRequire as createRequireHere } from 'node:module';\nconst require = createRequireHere(import.meta.url);",
  },
  logLevel: 'warning',
};

await build({ ...settings, entryPoints: [main], outfile: bundled });
escapeNonAscii(bundled);
renameSync(bundled, main);
await build({
  ...settings,
  entryPoints: [join(tree, 'libs', 'raft', 'src', 'worker', 'worker-main.js')],
  outfile: join(server, 'raft-worker.mjs'),
  plugins: [{ name: 'only-what-is-used', setup: dropUnused }],
});

/**
 * Escapes the characters beyond ASCII, which esbuild leaves in regular expressions: with a single
 * one of them, the engine holds the source of 11 MB with two bytes a character.
 */
function escapeNonAscii(file) {
  const source = readFileSync(file, 'utf8');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII.
  const escaped = source.replaceAll(/[^\x00-\x7f]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  writeFileSync(file, escaped);
}

/**
 * Drops unused modules of `@orch/component`; loading them would double the start time of the
 * thread.
 */
function dropUnused({ onResolve }) {
  const component = join(tree, 'libs', 'component', 'src');
  onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
    const file = resolve(resolveDir, path);
    return file.startsWith(component) ? { path: file, sideEffects: false } : undefined;
  });
}
