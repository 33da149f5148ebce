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

/** Specs that select the dialect `kubernetes`: a process has one dialect, by default `orch`. */
const inKubernetesDialect = specs('.kubernetes.spec.ts');
const serversInKubernetesDialect = specs('.kubernetes.server.spec.ts');

// Servers of several specs share the cores and the disk: the limit only ends what hangs.
const serverTimeoutMs = 60_000;

function project(name: string, include: string[], exclude: string[], testTimeout = 20_000) {
  return { extends: true as const, test: { name, include, exclude, testTimeout } };
}

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
    // The specs of a project share the modules of their process: loading them for each took longer
    // than the tests.
    isolate: false,
    projects: [
      project('unit', specs('.spec.ts'), [...servers, ...inKubernetesDialect]),
      project('unit-kubernetes', inKubernetesDialect, servers),
      project('server', servers, serversInKubernetesDialect, serverTimeoutMs),
      project('server-kubernetes', serversInKubernetesDialect, [], serverTimeoutMs),
    ],
  },
});
