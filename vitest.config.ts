import { resolve } from 'node:path';
import swc from 'unplugin-swc';
import { defineConfig } from 'vitest/config';

const root = import.meta.dirname;

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
    include: [
      'libs/**/*.spec.ts',
      'apps/**/*.spec.ts',
      'test/unit/**/*.spec.ts',
      'test/history/**/*.spec.ts',
      'test/chaos/**/*.spec.ts',
      'test/simulation/**/*.spec.ts',
      'scripts/**/*.spec.ts',
    ],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
  },
});
