import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** End to end: real processes, one file at a time, as they share the machine's two cores. */
export default defineConfig({
  resolve: {
    // Certificates are made by the code that `up` makes them with, as it was built.
    alias: {
      '@orch/component': resolve(import.meta.dirname, '../../dist/libs/component/src/index.js'),
    },
  },
  test: {
    root: import.meta.dirname,
    include: ['**/*.spec.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Of suites in one file that say they may run at once.
    maxConcurrency: 2,
    bail: 0,
  },
});
