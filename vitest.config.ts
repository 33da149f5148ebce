import { resolve } from 'node:path';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';

const root = import.meta.dirname;

function specs(ending: string): string[] {
  const folders = [
    'libs',
    'apps',
    'scripts',
    'test/unit',
    'test/history',
    'test/chaos',
    'test/scheduling',
  ];
  return [...folders, 'test/simulation'].map((folder) => `${folder}/**/*${ending}`);
}

/** Specs that start whole servers or replicas on real sockets and disks. */
const servers = specs('.server.spec.ts');

export default defineConfig({
  plugins: [swc.vite({ configFile: resolve(root, '.swcrc') })],
  resolve: {
    alias: [
      {
        find: /^@orch\/types\/(.*)$/,
        replacement: `${root}/libs/apimachinery/src/generated/$1.ts`,
      },
      { find: /^@orch\/([^/]+)$/, replacement: `${root}/libs/$1/src/index.ts` },
    ],
  },
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    projects: [
      { extends: true, test: { name: 'unit', include: specs('.spec.ts'), exclude: servers } },
      // Servers of several specs share the cores and the disk: the limit only ends what hangs.
      { extends: true, test: { name: 'server', include: servers, testTimeout: 60_000 } },
    ],
  },
});
