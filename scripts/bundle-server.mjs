/**
 * Replaces `main.js` of the API server by a bundle, because finding and reading two thousand small
 * files takes most of its start. The thread of its replica is a second bundle, `raft-worker.mjs`.
 * The argument is the built tree: node scripts/bundle-server.mjs dist
 */
import { renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { escapeNonAscii, settings } from './bundle-settings.mjs';

const tree = resolve(process.argv[2] ?? 'dist');
const server = join(tree, 'apps', 'apiserver', 'src');
const main = join(server, 'main.js');
const bundled = `${main}.bundled`;

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
