/** A short run of the fuzz targets of kinds, with the same few objects each time. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { kindChangeTargets } from '../fuzz/targets/kind-changes.js';
import { kindWriteTargets } from '../fuzz/targets/kind-writes.js';

const runCount = 300;
const seed = 1;

describe('random objects of every kind', () => {
  it.each([...kindWriteTargets, ...kindChangeTargets])(
    'pass $name',
    async ({ property, share }) => {
      await fc.assert(property, { numRuns: Math.ceil(runCount * share), seed });
    },
  );
});
