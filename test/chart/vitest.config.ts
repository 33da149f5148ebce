import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.js';

/** The chart with the real helm, and the image. */
export default mergeConfig(
  { ...base, test: { ...base.test, include: [], projects: undefined } },
  defineConfig({
    test: {
      root: import.meta.dirname,
      include: ['**/*.spec.ts'],
      isolate: true,
      testTimeout: 180_000,
      hookTimeout: 180_000,
    },
  }),
);
