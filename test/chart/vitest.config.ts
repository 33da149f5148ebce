import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The chart with the real helm, and the image: some files start processes, so one at a time. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], projects: undefined } },
  defineConfig({
    test: {
      root: import.meta.dirname,
      include: ['**/*.spec.ts'],
      fileParallelism: false,
      isolate: true,
      testTimeout: 180_000,
      hookTimeout: 180_000,
    },
  }),
);
