import { defineConfig } from 'vitest/config';

/** End to end: real processes, one file at a time, as they share the machine's two cores. */
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ['**/*.spec.ts'],
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    bail: 0,
  },
});
