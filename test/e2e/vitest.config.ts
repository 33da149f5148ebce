import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Suites that load both cores themselves, or measure times: nothing runs beside them. */
const exclusive = ['cluster.spec.ts', 'kubectl.spec.ts', 'limits.spec.ts'];

/**
 * End to end: real processes, each suite with ports and directories of its own. Most suites wait
 * for processes to start, to notice a failure or to stop, so two run at a time; then the exclusive
 * ones.
 */
export default defineConfig({
  resolve: {
    // Certificates are created by the built code that `up` uses.
    alias: {
      '@orch/component': resolve(import.meta.dirname, '../../dist/libs/component/src/index.js'),
    },
  },
  test: {
    root: import.meta.dirname,
    pool: 'forks',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Concurrent suites in one file, most of which wait for pods.
    maxConcurrency: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'parallel',
          include: ['**/*.spec.ts'],
          exclude: exclusive,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'exclusive',
          include: exclusive,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
